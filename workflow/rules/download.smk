"""Archives: mirrors, the official address, other archives with the same members; what is known is checked."""


# Compute nodes often have no way to the internet, so archives are fetched where Snakemake runs.
rule download:
    """Fetch one archive, whole or not at all; a download that broke off is taken up again."""
    output:
        archive="data/archives/{archive}",
    log:
        "logs/download/{archive}.log",
    retries: 0
    localrule: True
    resources:
        mem_mb=1000,
        runtime=24 * 60,
    params:
        archive=lambda wildcards: options.archive(CONFIG, wildcards.archive),
        # asks for `input` so that other sources are no reason to fetch again what is already there
        sources=lambda wildcards, input: options.other_sources(CONFIG, wildcards.archive),
    shell:
        "nmt data download {params.archive} {params.sources} --output {output.archive:q} 2>&1 | tee -i {log:q}"
