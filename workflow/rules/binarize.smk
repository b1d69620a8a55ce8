"""Build vocabularies, and write the text as memory-mapped ids.

In:  tokens of the final stage (data/tokens or data/selected), and their words by frequency.
Out: data/vocabulary/LANGUAGE.tsv, data/binary/train, data/binary/dev.
"""

if PREPARED_CORPORA:

    for language, size in zip((SOURCE, TARGET), CONFIG.vocabulary.sizes):
        SETTINGS_FILES.add(
            f"vocabulary/{language}",
            {
                "words": size,
                "specials_included": CONFIG.vocabulary.specials_included,
                "subwords": CONFIG.vocabulary.subwords,
            },
        )
    for split in ("train", "dev"):
        SETTINGS_FILES.add(f"binarize/{split}", job_settings.get_bitext_settings(CONFIG, split))

    rule vocabulary:
        """Keep the most frequent words of one side of the training text."""
        input:
            settings="settings/vocabulary/{language}.json",
            words=expand(
                f"data/{FINAL_STAGE}/{{shard}}.{{language}}.words.zst",
                shard=list_shards(CONFIG.use.train),
                allow_missing=True,
            ),
        output:
            vocabulary="data/vocabulary/{language}.tsv",
        log:
            "logs/vocabulary/{language}.log",
        resources:
            mem_mb=scale_memory(DATA_MEMORY),
            runtime=scale_minutes(30, per_input_gb=60),
        script:
            "../scripts/vocabulary.py"

    rule binarize:
        """Turn training or development text into memory-mapped ids; training text is shuffled once, with the seed."""
        input:
            settings="settings/binarize/{split}.json",
            source=source_of_split,
            target=target_of_split,
            source_vocabulary=f"data/vocabulary/{SOURCE}.tsv",
            target_vocabulary=f"data/vocabulary/{TARGET}.tsv",
        output:
            [f"data/binary/{{split}}/{name}" for name in BITEXT_FILES],
        log:
            "logs/binarize/{split}.log",
        resources:
            mem_mb=scale_memory(DATA_MEMORY, per_input_mb=1),
            runtime=scale_minutes(60, per_input_gb=60),
        script:
            "../scripts/binarize.py"
