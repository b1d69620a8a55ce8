"""Translate a text with Moses, and write n-best lists if the rule has them."""

from job import job

with job(snakemake) as (inputs, outputs):
    from nmt.io.files import read_json
    from pipeline.phrase_based.configuration import System
    from pipeline.phrase_based.decoding import NBest, translate_file
    from pipeline.phrase_based.programs import Moses, reset_moses_log

    n_best = (
        NBest(outputs.n_best_lists, **read_json(inputs.n_best)) if "n_best_lists" in vars(outputs) else None
    )
    translate_file(
        Moses.from_build_file(inputs.programs),
        System(*inputs.tables, inputs.language_model, **inputs.settings),
        inputs.weights,
        inputs.source,
        outputs.translations,
        reset_moses_log(snakemake.log[0]),
        snakemake.threads,
        n_best,
    )
