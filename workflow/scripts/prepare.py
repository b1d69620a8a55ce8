"""Clean and tokenize a shard, and count its words."""

from job import job

with job(snakemake):
    from pathlib import Path

    from nmt.io.files import read_json
    from nmt.settings.text import Languages, Tokenization
    from pipeline.config.text import Cleaning
    from pipeline.preparation import prepare_shard

    settings = read_json(snakemake.input.settings)
    prepare_shard(
        (Path(snakemake.input.source), Path(snakemake.input.target)),
        Languages.model_validate(settings["languages"]),
        Cleaning.model_validate(settings["cleaning"]),
        settings["tokenization"] and Tokenization.model_validate(settings["tokenization"]),
        (Path(snakemake.output.source), Path(snakemake.output.target)),
        (Path(snakemake.output.source_words), Path(snakemake.output.target_words)),
        Path(snakemake.output.counts),
    )
