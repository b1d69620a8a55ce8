"""Let the project's grammar write a corpus."""

from job import job

with job(snakemake) as (inputs, outputs):
    from pipeline.config.catalogue import GrammarSettings
    from pipeline.grammar.corpus import write_corpus

    settings = inputs.settings
    grammar = GrammarSettings.model_validate(settings["grammar"])
    shards = (outputs.source, outputs.target, outputs.alignment)
    write_corpus(grammar, settings["split"], settings["pairs"], *shards, outputs.counts)
