"""Clean and tokenize a shard, and count on the way."""

from job import by_corpus, job

with job(snakemake):
    from pathlib import Path

    from nmt.settings.text import Languages, Tokenization
    from pipeline.config.text import Cleaning
    from pipeline.preparation import prepare

    settings = snakemake.params.settings
    prepare(
        (Path(snakemake.input.source), Path(snakemake.input.target)),
        Languages.model_validate(settings["languages"]),
        Cleaning.model_validate(settings["cleaning"]),
        settings["tokenization"] and Tokenization.model_validate(settings["tokenization"]),
        by_corpus(snakemake.input.held_out_source, snakemake.input.held_out_target),
        (Path(snakemake.output.source), Path(snakemake.output.target)),
        (Path(snakemake.output.source_words), Path(snakemake.output.target_words)),
        Path(snakemake.output.counts),
    )
