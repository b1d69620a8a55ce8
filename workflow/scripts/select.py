"""Write the pairs of a corpus that the threshold takes, with empty lines in place of the others; count them."""

from job import job, over_shards

with job(snakemake):
    from functools import partial
    from pathlib import Path

    from nmt.selection.cross_entropy import Threshold
    from nmt.settings.base import read_settings
    from pipeline.preparation import SelectionFiles, select_shard

    given, made = snakemake.input, snakemake.output
    threshold = read_settings(Threshold, Path(given.threshold), "choose it again")
    corpus = Path(given.source[0]).parent.name
    files = zip(
        given.scores, given.source, given.target, made.source, made.target, made.source_words, made.target_words,
        made.counts, strict=True,
    )  # fmt: skip
    shards = ((number, SelectionFiles(*map(Path, names))) for number, names in enumerate(files))
    for _ in over_shards(partial(select_shard, threshold, corpus), shards, snakemake.threads):
        pass
