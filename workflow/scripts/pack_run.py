"""Pack the files of a run that the results need: translations without n-best lists and, mostly, without attention."""

from job import job

with job(snakemake) as (inputs, outputs):
    from pipeline.results.pieces import pack_run

    pack_run(inputs.files, outputs.archive, keep_attention_of=snakemake.params.files_with_attention)
