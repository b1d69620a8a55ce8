"""Clean and tokenize a shard, and count its words."""

from job import job

with job(snakemake) as (inputs, outputs):
    from nmt.settings.text import Languages, Tokenization
    from pipeline.config.text import Cleaning
    from pipeline.preparation import prepare_shard

    settings = snakemake.params.settings
    tokenization = settings["tokenization"]
    prepare_shard(
        raw=(inputs.source, inputs.target),
        languages=Languages.model_validate(settings["languages"]),
        cleaning=Cleaning.model_validate(settings["cleaning"]),
        tokenization=Tokenization.model_validate(tokenization) if tokenization else None,
        tokens=(outputs.source, outputs.target),
        word_counts=(outputs.source_words, outputs.target_words),
        counts=outputs.counts,
        settings=settings,
    )
