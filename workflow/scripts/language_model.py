"""Train an n-gram language model with KenLM."""

from job import group_by_corpus, job

with job(snakemake) as (inputs, outputs):
    from nmt.selection.language_models import list_frequent_words, train_language_model

    settings = snakemake.params.settings
    text = {}
    for corpus, shards in group_by_corpus(inputs.text).items():
        text[corpus] = [text_file for (text_file,) in shards]  # one side of each shard
    vocabulary_text = getattr(inputs, "vocabulary_text", [])
    train_language_model(
        text=text,
        order=settings["order"],
        output=outputs.model,
        discount_fallback=settings["discount_fallback"],
        memory_mb=snakemake.resources.mem_mb,
        programs=inputs.programs.parent,
        vocabulary=list_frequent_words(vocabulary_text, settings["min_count"]) if vocabulary_text else None,
        extra_files=getattr(inputs, "extra_text", []),
        max_extra_words=settings["max_extra_words"],
    )
