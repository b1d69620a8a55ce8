"""Add up the counts of all shards, corpus by corpus, and the words that the vocabularies lack."""

from job import job

with job(snakemake):
    from pathlib import Path

    from nmt.data.vocabulary import Vocabulary
    from nmt.io.files import read_json, write_json
    from pipeline.results.corpora import CorpusFiles, sum_corpus_counts

    settings = read_json(snakemake.input.settings)
    languages = settings["languages"]
    sides = (snakemake.input.source_vocabulary, snakemake.input.target_vocabulary)
    vocabularies = [Vocabulary.read(Path(file)) for file in sides]
    corpora = [CorpusFiles(**corpus) for corpus in settings["corpora"]]
    write_json(
        snakemake.output.counts, [sum_corpus_counts(files, languages, vocabularies) for files in corpora]
    )
