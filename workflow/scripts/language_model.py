"""Train an n-gram language model with KenLM."""

from job import job, list_shards

with job(snakemake) as (inputs, outputs):
    from nmt.selection.language_models import list_frequent_words, train_language_model

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
