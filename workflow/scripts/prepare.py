"""Clean and tokenize a shard, and count on the way."""

from job import job

with job(snakemake):
    from pathlib import Path

    from nmt.data.preparation import prepare
    from nmt.settings.text import Cleaning, Languages, Tokenization

    settings, held_out = snakemake.params.settings, {}
    sides = [Path(file) for file in snakemake.input.get("held_out", [])]
    for source, target in zip(sides[::2], sides[1::2], strict=True):
        held_out.setdefault(source.parent.name, []).append((source, target))
    prepare(
        (Path(snakemake.input.source), Path(snakemake.input.target)),
        Languages.model_validate(settings["languages"]),
        Cleaning.model_validate(settings["cleaning"]),
        settings["tokenization"] and Tokenization.model_validate(settings["tokenization"]),
        held_out,
        (Path(snakemake.output.source), Path(snakemake.output.target)),
        (Path(snakemake.output.source_words), Path(snakemake.output.target_words)),
        Path(snakemake.output.counts),
    )
