"""Tokenize a shard of text in the target language."""

from job import job

with job(snakemake) as (inputs, outputs):
    from pipeline.preparation import prepare_monolingual_shard

    prepare_monolingual_shard(inputs.target, snakemake.params.settings, outputs.target)
