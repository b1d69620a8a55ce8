"""Vocabularies, and the text as memory-mapped ids."""

if PREPARED:

    for language, size in zip((SOURCE, TARGET), CONFIG.vocabulary.sizes):
        SETTINGS.add(
            f"vocabulary/{language}",
            {
                "words": size,
                "specials_included": CONFIG.vocabulary.specials_included,
                "subwords": CONFIG.vocabulary.subwords,
            },
        )
    for part in ("train", "dev"):
        SETTINGS.add(f"binarize/{part}", job_settings.get_text_facts(CONFIG, part))

    rule vocabulary:
        """Keep the most frequent words of one side of the training text."""
        input:
            settings="settings/vocabulary/{language}.json",
            words=expand(
                f"data/{FINAL_STAGE}/{{shard}}.{{language}}.words.zst",
                shard=shards(CONFIG.use.train),
                allow_missing=True,
            ),
        output:
            vocabulary="data/vocabulary/{language}.tsv",
        log:
            "logs/vocabulary/{language}.log",
        resources:
            mem_mb=memory(DATA_MEMORY),
            runtime=minutes(30, 60),
        script:
            "../scripts/vocabulary.py"

    rule binarize:
        """Turn training or development text into memory-mapped ids; training text is shuffled once, with the seed."""
        input:
            settings="settings/binarize/{part}.json",
            source=lambda wildcards: text_of(wildcards.part, SOURCE),
            target=lambda wildcards: text_of(wildcards.part, TARGET),
            source_vocabulary=f"data/vocabulary/{SOURCE}.tsv",
            target_vocabulary=f"data/vocabulary/{TARGET}.tsv",
        output:
            [f"data/binary/{{part}}/{name}" for name in BITEXT_FILES],
        log:
            "logs/binarize/{part}.log",
        resources:
            mem_mb=memory(DATA_MEMORY, 1),
            runtime=minutes(60, 60),
        script:
            "../scripts/binarize.py"
