"""Train an n-gram language model with KenLM."""

from job import by_corpus, job

with job(snakemake):
    from pathlib import Path

    from nmt.io.files import read_json
    from nmt.selection import language_models

    given = snakemake.input
    settings = read_json(given.settings)
    words = (
        language_models.list_frequent_words([Path(file) for file in given.words], settings["least"])
        if given.words
        else None
    )
    language_models.train_language_model(
        {corpus: [file for (file,) in files] for corpus, files in by_corpus(given.text).items()},
        settings["order"],
        Path(snakemake.output.model),
        settings["discount_fallback"],
        snakemake.resources.mem_mb,
        Path(given.programs).parent,
        words,
        [Path(file) for file in given.also],
        settings["also_words"],
    )
