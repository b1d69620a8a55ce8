"""Find the score threshold of a word budget, which is the same for all shards of its corpora."""

from job import group_by_corpus, job

with job(snakemake) as (inputs, outputs):
    from nmt.selection.cross_entropy import choose_threshold

    score_files = {}
    for corpus, shards in group_by_corpus(inputs.scores).items():
        score_files[corpus] = [score_file for (score_file,) in shards]  # one file for each shard
    threshold = choose_threshold(score_files, snakemake.params.settings["words"], outputs.threshold)
    print(f"{threshold.pairs:,} pairs, {threshold.target_words:,} target words")
