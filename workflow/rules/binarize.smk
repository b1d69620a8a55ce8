"""Vocabularies, and the text as memory-mapped ids."""

# Files of the text that models are trained on and validated with, by {shard} and {language}.
PARTS = {
    "train": f"data/{FINAL_STAGE}/{{shard}}.{{language}}.zst",
    "dev": "data/tokens/{shard}.{language}.zst",
}


if PREPARED:

    rule vocabulary:
        """Keep the most frequent words of one side of the training text."""
        input:
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
        params:
            settings=lambda wildcards: {
                "words": CONFIG.vocabulary.sizes[[SOURCE, TARGET].index(wildcards.language)],
                "specials_count": CONFIG.vocabulary.specials_count,
                "subwords": CONFIG.vocabulary.subwords,
            },
        script:
            "../scripts/vocabulary.py"

    rule binarize:
        """Turn training or development text into memory-mapped ids; training text is shuffled once, with the seed."""
        input:
            source=lambda wildcards: expand(
                PARTS[wildcards.part], shard=shards(getattr(CONFIG.use, wildcards.part)), language=SOURCE
            ),
            target=lambda wildcards: expand(
                PARTS[wildcards.part], shard=shards(getattr(CONFIG.use, wildcards.part)), language=TARGET
            ),
            source_vocabulary=f"data/vocabulary/{SOURCE}.tsv",
            target_vocabulary=f"data/vocabulary/{TARGET}.tsv",
        output:
            [f"data/binary/{{part}}/{name}" for name in BITEXT_FILES],
        log:
            "logs/binarize/{part}.log",
        resources:
            mem_mb=memory(DATA_MEMORY, 1),
            runtime=minutes(60, 60),
        params:
            corpora=lambda wildcards: options.shards(CONFIG, getattr(CONFIG.use, wildcards.part)),
            text=lambda wildcards: options.option(
                "text", *(PARTS[wildcards.part].replace("{language}", side) for side in (SOURCE, TARGET))
            ),
            shuffle=lambda wildcards: f"--shuffle-seed {CONFIG.seed}" if wildcards.part == "train" else "",
        shell:
            "nmt data binarize {params.corpora} {params.text} --source-vocabulary {input.source_vocabulary:q}"
            " --target-vocabulary {input.target_vocabulary:q} {params.shuffle} --output data/binary/{wildcards.part}"
            " 2>&1 | tee -i {log:q}"
