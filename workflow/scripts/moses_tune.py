"""Choose the weights that translate the development text best."""

from job import job

with job(snakemake):
    from pathlib import Path

    from nmt.io.files import read_json
    from pipeline.phrase_based.configuration import System
    from pipeline.phrase_based.programs import Moses, reset_moses_log
    from pipeline.phrase_based.tuning import tune_weights

    phrases, reordering = map(Path, snakemake.input.tables)
    tune_weights(
        Moses.from_build_file(snakemake.input.programs),
        System(
            phrases, reordering, Path(snakemake.input.language_model), **read_json(snakemake.input.settings)
        ),
        (Path(snakemake.input.source), Path(snakemake.input.target)),
        Path(snakemake.output.weights),
        reset_moses_log(snakemake.log[0]),
        **read_json(snakemake.input.tuning),
        threads=snakemake.threads,
    )
