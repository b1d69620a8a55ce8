"""Write the page with all results of the run."""

from job import job

with job(snakemake):
    from pathlib import Path

    import yaml

    from nmt.io.files import read_json
    from pipeline.results import page

    params = snakemake.params
    captions = yaml.safe_load(Path(params.captions).read_text(encoding="utf-8"))
    artifacts = [Path(file) for file in snakemake.input.artifacts]
    output, settings = Path(snakemake.output.page), read_json(snakemake.input.settings)
    page.write_report(
        output, params.title, params.papers, artifacts, params.beside, captions, settings, params.several
    )
