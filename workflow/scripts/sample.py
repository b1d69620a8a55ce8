"""Draw the text of the out-of-domain language models at random from the training text."""

from job import job

with job(snakemake):
    from pathlib import Path

    from nmt.selection.language_models import TokenShard, count_nonempty, sample

    text = [*zip(map(Path, snakemake.input.source), map(Path, snakemake.input.target), strict=True)]
    corpora = [source.parent.name for source, _ in text]
    shards = [
        TokenShard(corpus, corpora[:number].count(corpus), corpora.count(corpus), *text[number])
        for number, corpus in enumerate(corpora)
    ]
    size = snakemake.params.pairs or count_nonempty([Path(file) for file in snakemake.input.in_domain])
    outputs = Path(snakemake.output.source), Path(snakemake.output.target)
    print(f"{sample(shards, size, snakemake.params.seed, *outputs):,} of {size:,} requested pairs")
