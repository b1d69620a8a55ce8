"""Translate a text with Moses, and write n-best lists if the rule has them."""

from job import job

with job(snakemake) as (inputs, outputs):
    from pipeline.moses.configuration import System
    from pipeline.moses.decoding import translate_file
    from pipeline.moses.programs import Moses, reset_moses_log

    n_best_arguments = {}
    if "n_best_lists" in vars(outputs):
        n_best_arguments = {"n_best_lists": outputs.n_best_lists, **snakemake.params.n_best}
    translate_file(
        Moses(inputs.programs.parent),
        System(*inputs.tables, inputs.language_model, **snakemake.params.settings),
        weights=inputs.weights,
        source=inputs.source,
        output=outputs.translations,
        log=reset_moses_log(snakemake.log[0]),
        threads=snakemake.threads,
        **n_best_arguments,
    )
