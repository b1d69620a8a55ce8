"""Draw the text of the out-of-domain language models at random from the training text."""

from job import by_corpus, job

with job(snakemake):
    from pathlib import Path

    from nmt.io.files import read_json
    from nmt.selection.language_models import count_nonempty_lines, sample_pairs

    corpora = by_corpus(snakemake.input.source, snakemake.input.target)
    settings = read_json(snakemake.input.settings)
    size = settings["pairs"] or count_nonempty_lines([Path(file) for file in snakemake.input.in_domain])
    outputs = Path(snakemake.output.source), Path(snakemake.output.target)
    print(f"{sample_pairs(corpora, size, settings['seed'], *outputs):,} of {size:,} requested pairs")
