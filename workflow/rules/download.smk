"""Download archives: from mirrors, from the official address, or other archives with the same members.

In:  addresses and checksums in the settings `archives`, and `mirrors`.
Out: data/archives/PATH, and PATH.json with its origin.
"""


# Compute nodes often have no way to the internet, so archives are fetched where Snakemake runs.
rule download:
    """Fetch one archive, and check its size and checksums. An interrupted download is resumed."""
    output:
        archive="data/archives/{archive}",
    log:
        "logs/download/{archive}.log",
    retries: 0
    localrule: True
    params:
        # without the licence and other sources: if only they change, the archive is not downloaded again
        archive=lambda wildcards: paths.find_archive(wildcards.archive).model_dump(
            exclude={"alternatives", "license"}
        ),
        # Snakemake does not compare this value, since the function takes `input`: other sources repeat no download
        alternatives=lambda wildcards, input: paths.find_archive(wildcards.archive).model_dump(
            include={"alternatives"}
        ),
        mirrors=no_rerun_if_changed(CONFIG.mirrors),
    script:
        "../scripts/download.py"
