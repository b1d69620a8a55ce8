"""Copy what the table of the corpora is made of into the replication package."""

from job import job

with job(snakemake):
    from pathlib import Path

    from pipeline.results.package import keep

    for source, copy in zip(snakemake.input.files, snakemake.output.files, strict=True):
        keep(Path(source), Path(copy))
