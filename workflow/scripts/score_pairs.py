"""Score the pairs of a corpus by cross-entropy difference."""

from job import job, map_shards

with job(snakemake) as (inputs, outputs):
    from functools import partial

    from nmt.selection.cross_entropy import score_shard

    score = partial(score_shard, inputs.source_models, inputs.target_models, inputs.programs.parent)
    shards = zip(inputs.source, inputs.target, outputs.scores, strict=True)
    list(map_shards(score, shards, snakemake.threads))  # waits for all shards
