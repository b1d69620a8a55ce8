"""Train an n-gram language model with KenLM."""

from job import by_corpus, job

with job(snakemake):
    from pathlib import Path

    from nmt.selection import language_models

    given, params = snakemake.input, snakemake.params
    words = (
        language_models.words_of([Path(file) for file in given.words], params.least) if given.words else None
    )
    language_models.train(
        {corpus: [file for (file,) in files] for corpus, files in by_corpus(given.text).items()},
        params.order,
        Path(snakemake.output.model),
        params.discount_fallback,
        snakemake.resources.mem_mb,
        Path(given.programs).parent,
        words,
        [Path(file) for file in given.also],
        params.also_words,
    )
