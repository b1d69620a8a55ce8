"""Find the threshold of a word budget, which is one for all its shards."""

from job import group_by_corpus, job

with job(snakemake) as (inputs, outputs):
    from nmt.selection.cross_entropy import choose_threshold

    scores = {}
    for corpus, shards in group_by_corpus(inputs.scores).items():
        scores[corpus] = [score_file for (score_file,) in shards]
    threshold = choose_threshold(scores, snakemake.params.settings["words"], outputs.threshold)
    print(f"{threshold.pairs:,} pairs, {threshold.target_words:,} target words")
