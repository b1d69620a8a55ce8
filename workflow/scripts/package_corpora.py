"""Copy what the table of the corpora is made of into the replication package."""

from job import job

with job(snakemake):
    from pathlib import Path

    from pipeline.results.package import copy_into_package

    for source, copy in zip(snakemake.input.files, snakemake.output.files, strict=True):
        copy_into_package(Path(source), Path(copy))
