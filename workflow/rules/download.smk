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
    params:
        archive=lambda wildcards: archive_at(wildcards.archive).model_dump(exclude={"alternatives"}),
        # another place of the same archive is no reason to fetch it again; Snakemake records no function of `input`
        alternatives=lambda wildcards, input: archive_at(wildcards.archive).model_dump()["alternatives"],
        mirrors=lambda wildcards, input: CONFIG.mirrors,
    script:
        "../scripts/download.py"
