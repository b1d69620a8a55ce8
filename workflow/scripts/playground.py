"""Write the page in which models translate typed text."""

from job import job

with job(snakemake) as (inputs, outputs):
    from pathlib import Path

    from nmt.settings.decoding import TextSettings
    from pipeline.results.playground.page import write_playground

    params = snakemake.params
    refusal = write_playground(
        [Path(folder) for folder in params.model_folders],
        TextSettings.model_validate(params.text_settings),
        source=inputs.source,
        reference=inputs.reference,
        **params.size_of_weights,
        title=params.title,
        output=outputs.page,
    )
    if refusal:
        print(refusal)
