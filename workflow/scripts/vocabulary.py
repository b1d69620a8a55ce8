"""Keep the most frequent words of one side of the training text, or learn subword units."""

from job import job

with job(snakemake) as (inputs, outputs):
    from nmt.data.vocabulary import build_vocabulary
    from pipeline.preparation import read_word_counts

    counts = read_word_counts(inputs.words)
    build_vocabulary(counts, **snakemake.params.settings, output=outputs.vocabulary)
