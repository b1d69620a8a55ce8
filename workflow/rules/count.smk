"""What every stage has left of every corpus: counted shard by shard, added up, and reported."""

# The report on the text, where this run is what prepares it.
DATA_REPORT = (
    []
    if CONFIG.released.models
    else [f"results/{name}" for name in ("data.csv", "data_lengths.csv", "data.md", "data.pdf", "data.png")]
)


if PREPARED:

    rule count:
        """Count a shard at each stage of its tokenized text: pairs, words, lengths, words that the vocabulary lacks, and
        the different words of all but training text."""
        input:
            text=lambda wildcards: expand(
                "data/{stage}/{corpus}/{shard}.{language}.zst",
                **wildcards,
                stage=experiment.counted_stages(CONFIG, wildcards.corpus),
                language=[SOURCE, TARGET],
            ),
            source_vocabulary=f"data/vocabulary/{SOURCE}.tsv",
            target_vocabulary=f"data/vocabulary/{TARGET}.tsv",
        output:
            counts="data/counts/{corpus}/{shard}.json",
        log:
            "logs/count/{corpus}/{shard}.log",
        group:
            "count.{corpus}"
        resources:
            mem_mb=memory(2000),
            runtime=minutes(30, 200),
        params:
            stages=lambda wildcards, input: options.stages(CONFIG, wildcards.corpus, input.text),
            types=lambda wildcards: "" if wildcards.corpus in CONFIG.use.train else "--types",
        shell:
            "nmt data count {params.stages} {params.types} --source-vocabulary {input.source_vocabulary:q}"
            " --target-vocabulary {input.target_vocabulary:q} --output {output.counts:q} 2>&1 | tee -i {log:q}"

    rule sum_counts:
        """Add up the counts of all shards, corpus by corpus, and check that the stages fit one another."""
        input:
            raw=expand("data/raw/{corpus}/counts.json", corpus=PREPARED),
            clean=expand("data/clean/{shard}.counts.json", shard=shards(PREPARED)),
            counts=expand("data/counts/{shard}.json", shard=shards(PREPARED)),
            overlap=expand("data/overlap/{shard}.json", shard=shards(CONFIG.use.train)),
        output:
            counts="data/counts.json",
        log:
            "logs/count/sum.log",
        localrule: True
        resources:
            mem_mb=2000,
            runtime=30,
        params:
            corpora=options.counted(CONFIG, PREPARED),
            languages=f"{SOURCE} {TARGET}",
        shell:
            "nmt data sum-counts {params.corpora} --raw 'data/raw/{{corpus}}/counts.json'"
            " --clean 'data/clean/{{shard}}.counts.json' --count 'data/counts/{{shard}}.json'"
            " --overlap 'data/overlap/{{shard}}.json' --languages {params.languages} --output {output.counts:q}"
            " 2>&1 | tee -i {log:q}"


rule data_report:
    """Report on the text: pairs and words at every stage, what was removed and why, unknown words, lengths."""
    input:
        counts=f"{DATA}/counts.json",
        paper=[PAPER] if CONFIG.artifacts.reported else [],
    output:
        csv=report("results/data.csv", caption="../report/data.rst", category="Text"),
        lengths="results/data_lengths.csv",
        md="results/data.md",
        pdf="results/data.pdf",
        png=report("results/data.png", caption="../report/data.rst", category="Text"),
    log:
        "logs/report/data.log",
    localrule: True
    resources:
        mem_mb=2000,
        runtime=30,
    params:
        limits=options.repeated(
            "limit", sorted({CONFIG.models[model].max_words for model in CONFIG.use.models})
        ),
        paper=lambda wildcards, input: options.repeated("paper", input.paper),
    shell:
        "nmt data report --counts {input.counts:q} {params.limits} {params.paper} --output-csv {output.csv:q}"
        " --output-lengths {output.lengths:q} --output-md {output.md:q} --output-pdf {output.pdf:q}"
        " --output-png {output.png:q} 2>&1 | tee -i {log:q}"
