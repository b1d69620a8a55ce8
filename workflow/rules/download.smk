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
        # in this form, so that finished runs download nothing again
        known=lambda wildcards: options.known(
            archive_at(wildcards.archive).model_dump(exclude={"alternatives"}, exclude_none=True).items()
        ),
        archive=lambda wildcards, input: archive_at(wildcards.archive).model_dump(),
        mirrors=unrecorded(CONFIG.mirrors),
    script:
        "../scripts/download.py"
