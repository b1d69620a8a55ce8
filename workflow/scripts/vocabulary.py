"""Keep the most frequent words of one side of the training text, or learn subword units."""

from job import job

with job(snakemake):
    from pathlib import Path

    from nmt.data.vocabulary import build_vocabulary
    from nmt.io.files import read_json
    from pipeline.preparation import read_word_counts

    counts = read_word_counts(map(Path, snakemake.input.words))
    build_vocabulary(counts, **read_json(snakemake.input.settings), output=snakemake.output.vocabulary)
