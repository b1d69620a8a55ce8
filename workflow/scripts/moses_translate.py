"""Translate a text with Moses, and write n-best lists where the rule has them."""

from job import job

with job(snakemake):
    from pathlib import Path

    from nmt.io.files import read_json
    from pipeline.phrase_based.configuration import System
    from pipeline.phrase_based.decoding import NBest, translate_file
    from pipeline.phrase_based.programs import Moses, reset_moses_log

    phrases, reordering = map(Path, snakemake.input.tables)
    lists = snakemake.output.get("lists")
    sentences = translate_file(
        Moses.from_build_file(snakemake.input.programs),
        System(
            phrases, reordering, Path(snakemake.input.language_model), **read_json(snakemake.input.settings)
        ),
        Path(snakemake.input.weights),
        Path(snakemake.input.source),
        Path(snakemake.output.translations),
        reset_moses_log(snakemake.log[0]),
        snakemake.threads,
        NBest(Path(lists), **read_json(snakemake.input.n_best)) if lists else None,
    )
    print(f"{sentences:,} sentences")
