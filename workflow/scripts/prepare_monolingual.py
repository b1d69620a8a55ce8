"""Tokenize a shard of text in the target language."""

from job import job

with job(snakemake):
    from pathlib import Path

    from nmt.io.files import read_json
    from nmt.settings.text import Languages, Tokenization
    from pipeline.config.text import Cleaning
    from pipeline.preparation import prepare_monolingual_shard

    settings = read_json(snakemake.input.settings)
    prepare_monolingual_shard(
        Path(snakemake.input.target),
        Languages.model_validate(settings["languages"]).target,
        Cleaning.model_validate(settings["cleaning"]),
        Tokenization.model_validate(settings["tokenization"]),
        Path(snakemake.output.target),
    )
