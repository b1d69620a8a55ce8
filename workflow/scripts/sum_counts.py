"""Add up the counts of all shards, corpus by corpus, and the words that the vocabularies lack."""

from job import job

with job(snakemake) as (inputs, outputs):
    from nmt.data.vocabulary import Vocabulary
    from nmt.io.files import write_json
    from pipeline.results.corpora import CorpusFiles, sum_corpus_counts

    settings = snakemake.params.settings
    vocabularies = [Vocabulary.read(inputs.source_vocabulary), Vocabulary.read(inputs.target_vocabulary)]
    counts = []
    for corpus in settings["corpora"]:
        counts.append(sum_corpus_counts(CorpusFiles(**corpus), settings["languages"], vocabularies))
    write_json(outputs.counts, counts)
