"""From archives (or the grammar) to tokens, vocabularies and memory-mapped ids. Both sides always have as many lines."""

# A corpus has as many shards as its settings say, and outputs cannot depend on wildcards: one rule a corpus.
for corpus in DOWNLOADED:

    rule:
        """Take both sides of a corpus out of their archives and deal their lines to shards."""
        name:
            f"extract_{corpus}"
        input:
            source=archive_file(corpus, "source"),
            target=archive_file(corpus, "target"),
        output:
            source=expand(
                "data/raw/{corpus}/{shard}.{language}.zst",
                corpus=corpus,
                shard=shards(corpus),
                language=SOURCE,
            ),
            target=expand(
                "data/raw/{corpus}/{shard}.{language}.zst",
                corpus=corpus,
                shard=shards(corpus),
                language=TARGET,
            ),
            counts=f"data/raw/{corpus}/counts.json",
        log:
            f"logs/extract/{corpus}.log",
        benchmark:
            f"benchmarks/extract/{corpus}.tsv"
        conda:
            "../../envs/prepare.yaml"
        resources:
            mem_mb=memory(2000),
            runtime=minutes(60, 60),
        params:
            members=member_options(corpus),
            source=lambda wildcards, output: repeated("--output-source", output.source),
            target=lambda wildcards, output: repeated("--output-target", output.target),
        shell:
            "nmt extract --archive-source {input.source:q} --archive-target {input.target:q} {params.members}"
            " {params.source} {params.target} --counts {output.counts:q} 2>&1 | tee -i {log:q}"


for corpus in GENERATED:

    rule:
        """Let the project's grammar write a corpus, with its word alignments."""
        name:
            f"generate_{corpus}"
        output:
            source=expand(
                "data/raw/{corpus}/{shard}.{language}.zst",
                corpus=corpus,
                shard=shards(corpus),
                language=SOURCE,
            ),
            target=expand(
                "data/raw/{corpus}/{shard}.{language}.zst",
                corpus=corpus,
                shard=shards(corpus),
                language=TARGET,
            ),
            alignment=expand("data/raw/{corpus}/{shard}.align.zst", corpus=corpus, shard=shards(corpus)),
            counts=f"data/raw/{corpus}/counts.json",
        log:
            f"logs/generate/{corpus}.log",
        benchmark:
            f"benchmarks/generate/{corpus}.tsv"
        conda:
            "../../envs/prepare.yaml"
        resources:
            mem_mb=memory(2000),
            runtime=minutes(60),
        params:
            settings=constant(CONFIG.grammar),
            split=CONFIG.corpora[corpus].grammar.split,
            pairs=CONFIG.corpora[corpus].grammar.pairs,
            source=lambda wildcards, output: repeated("--output-source", output.source),
            target=lambda wildcards, output: repeated("--output-target", output.target),
            alignment=lambda wildcards, output: repeated("--output-alignment", output.alignment),
        shell:
            "nmt generate --settings {params.settings:q} --split {params.split} --pairs {params.pairs}"
            " {params.source} {params.target} {params.alignment} --counts {output.counts:q} 2>&1 | tee -i {log:q}"


if PREPARED:

    rule clean:
        """Blank the pairs that the settings refuse, on both sides, so that line numbers stay in step; count why."""
        input:
            source=f"data/raw/{{corpus}}/{{shard}}.{SOURCE}.zst",
            target=f"data/raw/{{corpus}}/{{shard}}.{TARGET}.zst",
        output:
            source=f"data/clean/{{corpus}}/{{shard}}.{SOURCE}.zst",
            target=f"data/clean/{{corpus}}/{{shard}}.{TARGET}.zst",
            counts="data/clean/{corpus}/{shard}.counts.json",
        log:
            "logs/clean/{corpus}/{shard}.log",
        benchmark:
            "benchmarks/clean/{corpus}/{shard}.tsv"
        wildcard_constraints:
            corpus=none_of(TOKENIZED),
        conda:
            "../../envs/prepare.yaml"
        resources:
            mem_mb=memory(2000),
            runtime=minutes(30, 200),
        params:
            settings=constant(CONFIG.cleaning),
        shell:
            "nmt clean --settings {params.settings:q} {input.source:q} {input.target:q}"
            " --output-source {output.source:q} --output-target {output.target:q} --counts {output.counts:q}"
            " 2>&1 | tee -i {log:q}"

    use rule clean as clean_tokenized with:
        # Text that came as words: cleaned, it is what the other corpora are after tokenization.
        output:
            source=f"data/tokens/{{corpus}}/{{shard}}.{SOURCE}.zst",
            target=f"data/tokens/{{corpus}}/{{shard}}.{TARGET}.zst",
            counts="data/clean/{corpus}/{shard}.counts.json",
        wildcard_constraints:
            corpus=any_of(TOKENIZED),

    rule tokenize:
        """Tokenize one side of a shard by Moses' rules."""
        input:
            text="data/clean/{corpus}/{shard}.{language}.zst",
        output:
            tokens="data/tokens/{corpus}/{shard}.{language}.zst",
        log:
            "logs/tokenize/{corpus}/{shard}.{language}.log",
        benchmark:
            "benchmarks/tokenize/{corpus}/{shard}.{language}.tsv"
        wildcard_constraints:
            corpus=none_of(TOKENIZED),
        conda:
            "../../envs/prepare.yaml"
        resources:
            mem_mb=memory(2000),
            runtime=minutes(30, 400),
        params:
            settings=constant(CONFIG.tokenization),
        shell:
            "nmt tokenize --language {wildcards.language} --settings {params.settings:q} {input.text:q}"
            " {output.tokens:q} 2>&1 | tee -i {log:q}"

    if CONFIG.overlap.drop == "none":

        rule overlap:
            """Count the training pairs that share a sentence with the development or test set."""
            input:
                unpack(overlap_files),
            output:
                counts=OVERLAP_COUNTS,
            log:
                "logs/overlap/{corpus}/{shard}.log",
            benchmark:
                "benchmarks/overlap/{corpus}/{shard}.tsv"
            conda:
                "../../envs/prepare.yaml"
            resources:
                mem_mb=memory(1000),
                runtime=minutes(30, 200),
            params:
                settings=constant(CONFIG.overlap),
                held_out=held_out_options,
            shell:
                "nmt overlap --settings {params.settings:q} {params.held_out} {input.source:q} {input.target:q}"
                " --counts {output.counts:q} 2>&1 | tee -i {log:q}"

    else:

        rule drop_overlap:
            """Blank the training pairs that share a sentence with the development or test set; count them."""
            input:
                unpack(overlap_files),
            output:
                source=f"data/kept/{{corpus}}/{{shard}}.{SOURCE}.zst",
                target=f"data/kept/{{corpus}}/{{shard}}.{TARGET}.zst",
                counts=OVERLAP_COUNTS,
            log:
                "logs/overlap/{corpus}/{shard}.log",
            benchmark:
                "benchmarks/overlap/{corpus}/{shard}.tsv"
            conda:
                "../../envs/prepare.yaml"
            resources:
                mem_mb=memory(1000),
                runtime=minutes(30, 200),
            params:
                settings=constant(CONFIG.overlap),
                held_out=held_out_options,
            shell:
                "nmt overlap --settings {params.settings:q} {params.held_out} {input.source:q} {input.target:q}"
                " --counts {output.counts:q} --output-source {output.source:q} --output-target {output.target:q}"
                " 2>&1 | tee -i {log:q}"

    rule vocabulary:
        """Count the words of one side of the training text and keep the most frequent."""
        input:
            text=lambda wildcards: part_files("train", wildcards.language),
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
            source=lambda wildcards: part_files(wildcards.part, SOURCE),
            target=lambda wildcards: part_files(wildcards.part, TARGET),
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
            shards=lambda wildcards: text_options(*part_text(wildcards.part), SOURCE, TARGET),
            shuffle=lambda wildcards: f"--shuffle-seed {CONFIG.seed}" if wildcards.part == "train" else "",
        shell:
            "nmt binarize {params.shards} --source-vocabulary {input.source_vocabulary:q}"
            " --target-vocabulary {input.target_vocabulary:q} {params.shuffle} --output data/binary/{wildcards.part}"
            " 2>&1 | tee -i {log:q}"
