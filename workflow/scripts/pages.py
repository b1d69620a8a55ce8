"""Write the page with all results of the run."""

import json

from job import job

with job(snakemake):
    from pathlib import Path

    import yaml

    from pipeline.results import page

    params = snakemake.params
    captions = yaml.safe_load(Path(params.captions).read_text(encoding="utf-8"))
    artifacts = [Path(file) for file in snakemake.input.artifacts]
    output, settings = Path(snakemake.output.page), json.loads(params.settings)
    page.write(
        output, params.title, params.papers, artifacts, params.beside, captions, settings, params.several
    )
