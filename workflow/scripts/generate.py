"""Let the project's grammar write a corpus."""

from job import job

with job(snakemake):
    from pathlib import Path

    from pipeline.config.catalogue import GrammarSettings
    from pipeline.grammar.corpus import write_corpus

    settings = GrammarSettings.model_validate_json(snakemake.params.settings)
    files = ([Path(file) for file in snakemake.output[side]] for side in ("source", "target", "alignment"))
    split, pairs = snakemake.params.split, snakemake.params.pairs
    write_corpus(settings, split, pairs, *files, Path(snakemake.output.counts))
