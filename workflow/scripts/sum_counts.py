"""Add up the counts of all shards, corpus by corpus, and find out what the vocabularies cover."""

from job import job

with job(snakemake):
    from pathlib import Path

    from pipeline.results.statistics import CorpusFiles, sum_corpora

    corpora = [CorpusFiles(**corpus) for corpus in snakemake.params.corpora]
    vocabularies = Path(snakemake.input.source_vocabulary), Path(snakemake.input.target_vocabulary)
    sum_corpora(corpora, snakemake.params.languages, vocabularies, Path(snakemake.output.counts))
