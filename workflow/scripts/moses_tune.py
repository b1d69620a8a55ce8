"""Choose the weights that translate the development text best."""

from job import job

with job(snakemake) as (inputs, outputs):
    from pipeline.moses.configuration import System
    from pipeline.moses.programs import Moses, reset_moses_log
    from pipeline.moses.tuning import tune_weights

    tune_weights(
        Moses(inputs.programs.parent),
        System(*inputs.tables, inputs.language_model, **snakemake.params.settings),
        text=(inputs.source, inputs.target),
        output=outputs.weights,
        log=reset_moses_log(snakemake.log[0]),
        **snakemake.params.tuning,
        threads=snakemake.threads,
    )
