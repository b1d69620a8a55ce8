"""Build vocabularies, and write the text as memory-mapped ids.

In:  tokens of the final stage (data/tokens or data/selected), and their words by frequency.
Out: data/vocabulary/LANGUAGE.tsv, data/binary/train, data/binary/dev.
"""

if PREPARED_CORPORA:

    rule vocabulary:
        """Keep the most frequent words of one side of the training text, or take the vocabulary of the model `init_from`."""
        input:
            words=expand(
                f"data/{FINAL_STAGE}/{{shard}}.{{language}}.words.zst",
                shard=paths.list_shards(CONFIG.use.train),
                allow_missing=True,
            ),
            initial_model=jobs.vocabulary_of_initial_model,
        output:
            vocabulary="data/vocabulary/{language}.tsv",
        log:
            "logs/vocabulary/{language}.log",
        resources:
            mem_mb=scale_memory(jobs.data_memory),
            runtime=scale_minutes(30, per_input_gb=60),
        params:
            settings=lambda wildcards: job_settings.get_vocabulary_settings(CONFIG, wildcards.language),
        script:
            "../scripts/vocabulary.py"

    rule binarize:
        """Turn training or development text into memory-mapped ids; training text is shuffled once, with the seed."""
        input:
            source=lambda wildcards: paths.training_files(wildcards.split, SOURCE),
            target=lambda wildcards: paths.training_files(wildcards.split, TARGET),
            source_vocabulary=f"data/vocabulary/{SOURCE}.tsv",
            target_vocabulary=f"data/vocabulary/{TARGET}.tsv",
        output:
            [f"data/binary/{{split}}/{name}" for name in BITEXT_FILES],
        log:
            "logs/binarize/{split}.log",
        resources:
            mem_mb=scale_memory(jobs.data_memory, per_input_mb=1),
            runtime=scale_minutes(60, per_input_gb=60),
        params:
            settings=lambda wildcards: job_settings.get_bitext_settings(CONFIG, wildcards.split),
        script:
            "../scripts/binarize.py"
