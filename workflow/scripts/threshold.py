"""Choose the one threshold for all shards of a word budget."""

from job import job

with job(snakemake):
    from pathlib import Path

    from nmt.selection.cross_entropy import choose_threshold

    scores = {}
    for file in map(Path, snakemake.input.scores):
        scores.setdefault(file.parent.name, []).append(file)
    found = choose_threshold(scores, snakemake.params.words, Path(snakemake.output.threshold))
    print(f"{found.pairs:,} pairs, {found.target_words:,} target words")
