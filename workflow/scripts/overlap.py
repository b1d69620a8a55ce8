"""Count the pairs of a corpus that share a side with held-out text."""

from job import group_by_corpus, job, map_shards

with job(snakemake) as (inputs, outputs):
    from collections import Counter
    from functools import partial

    from nmt.io.files import write_json
    from pipeline.preparation import HeldOutSentences, count_overlap

    held_out = HeldOutSentences(group_by_corpus(inputs.held_out_source, inputs.held_out_target))
    shards = zip(inputs.source, inputs.target, strict=True)
    total: Counter[str] = Counter(dict.fromkeys(held_out.names, 0))
    for counts in map_shards(partial(count_overlap, held_out), shards, snakemake.threads):
        total.update(counts)
    write_json(outputs.counts, dict(total))
