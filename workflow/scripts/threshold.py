"""Choose the one threshold for all shards of a word budget."""

from job import by_corpus, job

with job(snakemake):
    from pathlib import Path

    from nmt.io.files import read_json
    from nmt.selection.cross_entropy import choose_threshold

    scores = {
        corpus: [file for (file,) in files] for corpus, files in by_corpus(snakemake.input.scores).items()
    }
    words = read_json(snakemake.input.settings)["words"]
    found = choose_threshold(scores, words, Path(snakemake.output.threshold))
    print(f"{found.pairs:,} pairs, {found.target_words:,} target words")
