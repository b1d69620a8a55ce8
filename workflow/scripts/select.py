"""Write the pairs of a corpus that the threshold selects, with empty lines in place of the others; count them."""

from job import job, map_shards

with job(snakemake) as (inputs, outputs):
    from functools import partial

    from nmt.selection.cross_entropy import Threshold
    from nmt.settings.base import read_settings
    from pipeline.preparation import SelectionFiles, select_shard

    threshold = read_settings(Threshold, inputs.threshold, "choose it again")
    corpus = inputs.source[0].parent.name

    # the files of each shard, in the order of `SelectionFiles`
    files_by_shard = zip(
        inputs.scores,
        inputs.source,
        inputs.target,
        outputs.source,
        outputs.target,
        outputs.source_words,
        outputs.target_words,
        outputs.counts,
        strict=True,
    )
    shards = enumerate(SelectionFiles(*files) for files in files_by_shard)
    select = partial(select_shard, threshold, corpus)
    list(map_shards(select, shards, snakemake.threads))  # waits for all shards
