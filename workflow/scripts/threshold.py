"""Find the score threshold of a word budget, which is the same for all shards of its corpora."""

from job import job, list_shards

with job(snakemake) as (inputs, outputs):
    from nmt.selection.cross_entropy import choose_threshold

    threshold = choose_threshold(
        list_shards(inputs.scores), snakemake.params.settings["words"], outputs.threshold
    )
    print(f"{threshold.pairs:,} pairs, {threshold.target_words:,} target words")
