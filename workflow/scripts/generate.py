"""Let the project's grammar write a corpus."""

from job import job

with job(snakemake) as (inputs, outputs):
    from pipeline.config.catalogue import GrammarSettings
    from pipeline.grammar.corpus import write_corpus

    settings = snakemake.params.settings
    write_corpus(
        GrammarSettings.model_validate(settings["grammar"]),
        split=settings["split"],
        count=settings["pairs"],
        sources=outputs.source,
        targets=outputs.target,
        alignments=outputs.alignment,
        counts=outputs.counts,
    )
