"""Data selection by bilingual cross-entropy difference (Axelrod et al., 2011), the same for any number of shards."""

if PREPARED and CONFIG.selection.enabled:

    rule sample_out_of_domain:
        """Draw the text of the out-of-domain language models at random from the training text."""
        input:
            source=training_tokens(SOURCE),
            target=training_tokens(TARGET),
            in_domain=in_domain_tokens(SOURCE),
        output:
            source=f"data/selection/lm/out.{SOURCE}.zst",
            target=f"data/selection/lm/out.{TARGET}.zst",
        log:
            "logs/select/sample.log",
        benchmark:
            "benchmarks/select/sample.tsv"
        conda:
            "../../envs/select.yaml"
        resources:
            mem_mb=memory(4000),
            runtime=minutes(30, 60),
        params:
            seed=CONFIG.seed,
            size=sample_options,
            shards=lambda wildcards: text_options(TRAINING_STAGE, CONFIG.use.train, SOURCE, TARGET),
        shell:
            "nmt lm-sample {params.size} --seed {params.seed} {params.shards}"
            " --output-source {output.source:q} --output-target {output.target:q} 2>&1 | tee -i {log:q}"

    # The network is where Snakemake runs, and one build serves every experiment of this checkout.
    localrules:
        kenlm_programs,

    rule kenlm_programs:
        """Provide lmplz and build_binary: links to those on the path, or built from the pinned source archive."""
        output:
            [f"{KENLM}/{program}" for program in ("lmplz", "build_binary")],
        log:
            "logs/select/kenlm_programs.log",
        benchmark:
            "benchmarks/select/kenlm_programs.tsv"
        conda:
            "../../envs/select.yaml"
        threads: 4
        resources:
            mem_mb=4000,
            runtime=60,
        params:
            folder=lambda wildcards, output: folder_of(output),
        shell:
            "nmt kenlm-programs --jobs {threads} --output {params.folder:q} 2>&1 | tee -i {log:q}"

    rule language_model:
        """Train one of the four language models with KenLM's lmplz."""
        input:
            text=language_model_text,
            words=language_model_words,
            programs=ancient(f"{KENLM}/lmplz"),
        output:
            model="data/selection/lm/{domain}.{language}.binary",
        log:
            "logs/select/{domain}.{language}.log",
        benchmark:
            "benchmarks/select/{domain}.{language}.tsv"
        wildcard_constraints:
            domain="in|out",
        conda:
            "../../envs/select.yaml"
        resources:
            mem_mb=memory(DATA_MEMORY, 2),
            runtime=minutes(60, 60),
        params:
            order=CONFIG.selection.order,
            fallback="--discount-fallback" if CONFIG.selection.discount_fallback else "",
            folder=lambda wildcards, input: folder_of([input.programs]),
            text=language_model_options,
        shell:
            "nmt lm-train --order {params.order} {params.fallback} --memory-mb {resources.mem_mb}"
            " --programs {params.folder:q} {params.text} --output {output.model:q} 2>&1 | tee -i {log:q}"

    rule score_pairs:
        """Score the pairs of a training shard: cross-entropy difference summed over both sides, smaller is better."""
        input:
            source=f"data/{TRAINING_STAGE}/{{corpus}}/{{shard}}.{SOURCE}.zst",
            target=f"data/{TRAINING_STAGE}/{{corpus}}/{{shard}}.{TARGET}.zst",
            in_source=f"data/selection/lm/in.{SOURCE}.binary",
            out_source=f"data/selection/lm/out.{SOURCE}.binary",
            in_target=f"data/selection/lm/in.{TARGET}.binary",
            out_target=f"data/selection/lm/out.{TARGET}.binary",
        output:
            scores="data/selection/{corpus}/{shard}.scores.npy",
            histogram="data/selection/{corpus}/{shard}.histogram.json",
        log:
            "logs/select/{corpus}/{shard}.score.log",
        benchmark:
            "benchmarks/select/{corpus}/{shard}.score.tsv"
        conda:
            "../../envs/select.yaml"
        resources:
            mem_mb=memory(4000, 2),
            runtime=minutes(30, 120),
        shell:
            "nmt select-score --in-source {input.in_source:q} --out-source {input.out_source:q}"
            " --in-target {input.in_target:q} --out-target {input.out_target:q} {input.source:q} {input.target:q}"
            " --output {output.scores:q} --histogram {output.histogram:q} 2>&1 | tee -i {log:q}"

    rule threshold:
        """Find the one score up to which all shards of a word budget together hold the words wanted."""
        input:
            lambda wildcards: [
                file
                for corpus, shard in training_shards(wildcards.budget)
                for file in score_files(corpus, shard)
            ],
        output:
            threshold="data/selection/{budget}threshold.json",
        log:
            "logs/select/{budget}threshold.log",
        benchmark:
            "benchmarks/select/{budget}threshold.tsv"
        conda:
            "../../envs/select.yaml"
        resources:
            mem_mb=memory(4000),
            runtime=minutes(30),
        params:
            words=budget_option,
            shards=lambda wildcards: " ".join(
                shard_option(corpus, score_files(corpus, shard))
                for corpus, shard in training_shards(wildcards.budget)
            ),
        shell:
            "nmt select-threshold {params.words} {params.shards} --output {output.threshold:q}"
            " 2>&1 | tee -i {log:q}"

    rule select:
        """Keep the pairs of a training shard that score below the threshold; the others become empty lines."""
        input:
            threshold=lambda wildcards: threshold_file(wildcards.corpus),
            scores="data/selection/{corpus}/{shard}.scores.npy",
            source=f"data/{TRAINING_STAGE}/{{corpus}}/{{shard}}.{SOURCE}.zst",
            target=f"data/{TRAINING_STAGE}/{{corpus}}/{{shard}}.{TARGET}.zst",
        output:
            source=f"data/selected/{{corpus}}/{{shard}}.{SOURCE}.zst",
            target=f"data/selected/{{corpus}}/{{shard}}.{TARGET}.zst",
        log:
            "logs/select/{corpus}/{shard}.log",
        benchmark:
            "benchmarks/select/{corpus}/{shard}.tsv"
        conda:
            "../../envs/select.yaml"
        resources:
            mem_mb=memory(2000, 1),
            runtime=minutes(30, 60),
        shell:
            "nmt select-apply --threshold {input.threshold:q} --corpus {wildcards.corpus} --shard {wildcards.shard}"
            " --scores {input.scores:q} {input.source:q} {input.target:q}"
            " --output-source {output.source:q} --output-target {output.target:q} 2>&1 | tee -i {log:q}"
