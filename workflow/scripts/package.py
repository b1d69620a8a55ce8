"""Copy the inputs of tables and figures into the replication package."""

from job import job

with job(snakemake):
    from pathlib import Path

    from pipeline.results.package import keep

    for source, copy in zip(snakemake.input.files, snakemake.output.files, strict=True):
        keep(Path(source), Path(copy), attention=source in snakemake.params.attention)
