"""Count the pairs of a corpus of which held-out text has a side, too."""

from job import by_corpus, job, over_shards

with job(snakemake):
    from collections import Counter
    from functools import partial
    from pathlib import Path

    from nmt.io.files import write_json
    from pipeline.preparation import HeldOutSentences, count_overlap

    given = snakemake.input
    held_out = HeldOutSentences(by_corpus(given.held_out_source, given.held_out_target))
    shards = zip(map(Path, given.source), map(Path, given.target), strict=True)
    total: Counter[str] = Counter(dict.fromkeys(held_out.names, 0))
    for counts in over_shards(partial(count_overlap, held_out), shards, snakemake.threads):
        total.update(counts)
    write_json(snakemake.output.counts, dict(total))
