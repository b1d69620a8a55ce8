"""Write the page with all results of the run."""

import json

from job import job

with job(snakemake):
    from pathlib import Path

    from pipeline.results import page

    page.write(
        Path(snakemake.output.page),
        snakemake.params.title,
        snakemake.params.papers,
        [Path(file) for file in snakemake.input.artifacts],
        snakemake.params.beside,
        Path(snakemake.params.captions),
        snakemake.params.seeds,
        json.loads(snakemake.params.settings),
    )
