"""Clean and tokenize a shard, and count its words."""

from job import job

with job(snakemake) as (inputs, outputs):
    from pipeline.preparation import prepare_shard

    prepare_shard(
        raw=(inputs.source, inputs.target),
        settings=snakemake.params.settings,
        tokens=(outputs.source, outputs.target),
        word_counts=(outputs.source_words, outputs.target_words),
        counts=outputs.counts,
    )
