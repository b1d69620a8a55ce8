"""Score the pairs of a corpus by cross-entropy difference."""

from job import job, over_shards

with job(snakemake):
    from functools import partial
    from pathlib import Path

    from nmt.selection.cross_entropy import score_shard

    given = snakemake.input
    models = [[Path(file) for file in files] for files in (given.source_models, given.target_models)]
    score = partial(score_shard, *models, Path(given.programs).parent)
    shards = zip(
        map(Path, given.source), map(Path, given.target), map(Path, snakemake.output.scores), strict=True
    )
    for _ in over_shards(score, shards, snakemake.threads):
        pass
