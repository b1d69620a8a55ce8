"""Take both sides of a corpus out of their archives, and deal their lines to shards."""

from job import job

with job(snakemake):
    from pathlib import Path

    from nmt.io.files import read_json
    from pipeline.config.catalogue import Corpus
    from pipeline.download.extraction import Side, extract_corpus

    corpus = Corpus.model_validate(read_json(snakemake.input.settings)["corpus"])
    # text in one language is extracted once
    sides = {
        name: Side(
            Path(snakemake.input[name]),
            text.member,
            [Path(file) for file in snakemake.output[name]],
            text.md5,
        )
        for name, text in corpus.sides.items()
        if snakemake.output.get(name)
    }
    counts = extract_corpus(sides, Path(snakemake.output.counts), corpus.pairs)
    print(f"{snakemake.output.counts}: {counts['pairs']:,} pairs")
