"""Extract and score phrases and their reordering."""

from job import job

with job(snakemake) as (inputs, outputs):
    from pipeline.moses.phrases import extract_phrases
    from pipeline.moses.programs import Moses, reset_moses_log

    extract_phrases(
        Moses(inputs.programs.parent),
        text=(inputs.source, inputs.target),
        alignment=inputs.alignment,
        tables=tuple(outputs.tables),
        log=reset_moses_log(snakemake.log[0]),
        **snakemake.params.settings,
        threads=snakemake.threads,
        memory_mb=snakemake.resources.mem_mb // 2,  # for sorting; the rest is for other steps
    )
