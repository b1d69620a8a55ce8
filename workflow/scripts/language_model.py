"""Train an n-gram language model with KenLM."""

from job import group_by_corpus, job

with job(snakemake) as (inputs, outputs):
    from nmt.selection.language_models import list_frequent_words, train_language_model

    def list_shards(files):
        """Return the files of all shards of each corpus, which are of one side."""
        return {corpus: [file for (file,) in shards] for corpus, shards in group_by_corpus(files).items()}

    settings = snakemake.params.settings
    extra_files = {str(file): [file] for file in getattr(inputs, "extra_files", [])}
    vocabulary_text = getattr(inputs, "vocabulary_text", [])
    train_language_model(
        text=list_shards(inputs.text),
        order=settings["order"],
        output=outputs.model,
        discount_fallback=settings["discount_fallback"],
        memory_mb=snakemake.resources.mem_mb,
        programs=inputs.programs.parent,
        vocabulary=list_frequent_words(vocabulary_text, settings["min_count"]) if vocabulary_text else None,
        extra_text=extra_files | list_shards(getattr(inputs, "extra_shards", [])),
        max_extra_words=settings["max_extra_words"],
    )
