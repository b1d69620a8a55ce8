"""Turn text into memory-mapped ids, in the order of its lines or shuffled with a seed."""

from job import group_by_corpus, job

with job(snakemake) as (inputs, _):
    from pathlib import Path

    from nmt.data.bitext import binarize
    from nmt.data.vocabulary import Vocabulary

    folder = Path(snakemake.output[0]).parent
    bitext = binarize(
        corpora=group_by_corpus(inputs.source, inputs.target),
        source_vocabulary=Vocabulary.read(inputs.source_vocabulary),
        target_vocabulary=Vocabulary.read(inputs.target_vocabulary),
        folder=folder,
        shuffle_seed=snakemake.params.settings["seed"],
        settings=snakemake.params.settings,
    )
    print(f"{folder}: {len(bitext):,} pairs")
