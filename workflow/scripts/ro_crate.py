"""Record where the results come from."""

from job import job

with job(snakemake):
    from pathlib import Path

    from pipeline.results.ro_crate import record

    record(Path("results"), [Path(file) for file in snakemake.input], Path(snakemake.params.archives))
