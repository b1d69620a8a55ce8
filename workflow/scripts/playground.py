"""Write the page in which models translate what one types."""

from job import job

with job(snakemake):
    from pathlib import Path

    from nmt.settings.base import read_settings
    from nmt.settings.decoding import TextSettings
    from pipeline.results.playground.page import write_playground

    params, page = snakemake.params, Path(snakemake.output.page)
    models = [Path(folder) for folder in params.models]
    text = read_settings(TextSettings, Path(snakemake.input.settings))
    test = Path(snakemake.input.source), Path(snakemake.input.reference)
    if refusal := write_playground(models, text, *test, **params.size, title=params.title, output=page):
        print(refusal)
