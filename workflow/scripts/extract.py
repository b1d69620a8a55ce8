"""Take both sides of a corpus out of their archives, and deal their lines to shards."""

from job import job

with job(snakemake):
    from pathlib import Path

    from pipeline.config.catalogue import Corpus
    from pipeline.download.extraction import Side, extract

    corpus = Corpus.model_validate(snakemake.params.corpus)
    source, target = (
        Side(
            Path(snakemake.input[name]),
            text.member,
            [Path(file) for file in snakemake.output[name]],
            text.md5,
        )
        for name, text in corpus.sides.items()
    )
    counts = extract(source, target, Path(snakemake.output.counts), corpus.pairs)
    print(f"{snakemake.output.counts}: {counts['pairs']:,} pairs")
