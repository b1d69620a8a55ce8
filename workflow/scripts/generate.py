"""Let the project's grammar write a corpus."""

from job import job

with job(snakemake):
    from pathlib import Path

    from nmt.io.files import read_json
    from pipeline.config.catalogue import GrammarSettings
    from pipeline.grammar.corpus import write_corpus

    settings = read_json(snakemake.input.settings)
    grammar = GrammarSettings.model_validate(settings["grammar"])
    files = ([Path(file) for file in snakemake.output[side]] for side in ("source", "target", "alignment"))
    write_corpus(grammar, settings["split"], settings["pairs"], *files, Path(snakemake.output.counts))
