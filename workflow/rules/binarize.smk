"""Vocabularies, and the text as memory-mapped ids."""

# Shards of the text that models are trained on and validated with, by {language}.
PARTS = {
    "train": expand(f"data/{FINAL_STAGE}/{{shard}}.{{{{language}}}}.zst", shard=shards(CONFIG.use.train)),
    "dev": expand("data/tokens/{shard}.{{language}}.zst", shard=shards(CONFIG.use.dev)),
}


if PREPARED:

    rule vocabulary:
        """Count the words of one side of the training text and keep the most frequent."""
        input:
            text=PARTS["train"],
        output:
            vocabulary="data/vocabulary/{language}.tsv",
        log:
            "logs/vocabulary/{language}.log",
        benchmark:
            "benchmarks/vocabulary/{language}.tsv"
        conda:
            "../../envs/prepare.yaml"
        resources:
            mem_mb=memory(DATA_MEMORY),
            runtime=minutes(30, 60),
        params:
            words=CONFIG.vocabulary.words,
            specials="--specials-count" if CONFIG.vocabulary.specials_count else "",
        shell:
            "nmt vocabulary --words {params.words} {params.specials} {input.text:q} --output {output.vocabulary:q}"
            " 2>&1 | tee -i {log:q}"

    rule binarize:
        """Turn training or development text into memory-mapped ids; training text is shuffled once, with the seed."""
        input:
            source=lambda wildcards: expand(PARTS[wildcards.part], language=SOURCE),
            target=lambda wildcards: expand(PARTS[wildcards.part], language=TARGET),
            source_vocabulary=f"data/vocabulary/{SOURCE}.tsv",
            target_vocabulary=f"data/vocabulary/{TARGET}.tsv",
        output:
            [f"data/binary/{{part}}/{name}" for name in BITEXT_FILES],
        log:
            "logs/binarize/{part}.log",
        benchmark:
            "benchmarks/binarize/{part}.tsv"
        conda:
            "../../envs/prepare.yaml"
        resources:
            mem_mb=memory(DATA_MEMORY, 1),
            runtime=minutes(60, 60),
        params:
            shards=lambda wildcards: options.shards(
                CONFIG,
                "shard",
                getattr(CONFIG.use, wildcards.part),
                *(
                    f"data/{FINAL_STAGE if wildcards.part == 'train' else 'tokens'}/{{shard}}.{language}.zst"
                    for language in (SOURCE, TARGET)
                ),
            ),
            shuffle=lambda wildcards: f"--shuffle-seed {CONFIG.seed}" if wildcards.part == "train" else "",
        shell:
            "nmt binarize {params.shards} --source-vocabulary {input.source_vocabulary:q}"
            " --target-vocabulary {input.target_vocabulary:q} {params.shuffle} --output data/binary/{wildcards.part}"
            " 2>&1 | tee -i {log:q}"
