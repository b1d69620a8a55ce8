"""Tokenize a shard of text in the target language."""

from job import job

with job(snakemake) as (inputs, outputs):
    from nmt.settings.text import Tokenization
    from pipeline.config.text import Cleaning
    from pipeline.preparation import prepare_monolingual_shard

    settings = snakemake.params.settings
    prepare_monolingual_shard(
        raw=inputs.target,
        language=settings["languages"]["target"],
        cleaning=Cleaning.model_validate(settings["cleaning"]),
        tokenization=Tokenization.model_validate(settings["tokenization"]),
        tokens=outputs.target,
    )
