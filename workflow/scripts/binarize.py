"""Turn text into memory-mapped ids, in the order of its lines or shuffled with a seed."""

from job import by_corpus, job

with job(snakemake):
    from pathlib import Path

    from nmt.data import bitext
    from nmt.data.vocabulary import Vocabulary
    from nmt.io.files import read_json

    text = by_corpus(snakemake.input.source, snakemake.input.target)
    files = (snakemake.input.source_vocabulary, snakemake.input.target_vocabulary)
    vocabularies = [Vocabulary.read(Path(file)) for file in files]
    folder = Path(snakemake.output[0]).parent
    settings = read_json(snakemake.input.settings)
    made = bitext.binarize(text, *vocabularies, folder, settings["seed"], settings)
    print(f"{folder}: {len(made):,} pairs")
