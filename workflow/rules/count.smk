"""What every stage has left of every corpus: added up, and reported."""

# The report on the text, where this run is what prepares it.
DATA_REPORT = (
    []
    if CONFIG.released.models
    else [f"results/{name}" for name in ("data.csv", "data_lengths.csv", "data.md", "data.pdf", "data.png")]
)


if PREPARED:

    rule sum_counts:
        """Add up the counts of all shards, corpus by corpus, check that they fit one another, and find out which words the
        vocabularies lack."""
        input:
            raw=expand("data/raw/{corpus}/counts.json", corpus=PREPARED),
            counts=[
                f"data/{stage}/{shard}.counts.json"
                for corpus in PREPARED
                for stage in experiment.stages_of(CONFIG, corpus)
                for shard in shards([corpus])
            ],
            words=[
                f"data/{experiment.stages_of(CONFIG, corpus)[-1]}/{shard}.{language}.words.zst"
                for corpus in PREPARED
                for shard in shards([corpus])
                for language in (SOURCE, TARGET)
            ],
            source_vocabulary=f"data/vocabulary/{SOURCE}.tsv",
            target_vocabulary=f"data/vocabulary/{TARGET}.tsv",
        output:
            counts="data/counts.json",
        log:
            "logs/count/sum.log",
        localrule: True
        resources:
            mem_mb=2000,
            runtime=30,
        params:
            languages=(SOURCE, TARGET),
            corpora=[
                {
                    "name": corpus,
                    "part": experiment.part_of(CONFIG, corpus),
                    "shards": CONFIG.corpora[corpus].shards,
                    "stages": experiment.stages_of(CONFIG, corpus),
                }
                for corpus in PREPARED
            ],
        script:
            "../scripts/sum_counts.py"


rule data_report:
    """Report on the text: pairs and words at every stage, what was removed and why, unknown words, lengths."""
    input:
        counts=f"{DATA}/counts.json",
        paper=[PAPER] if CONFIG.artifacts.reported else [],
    output:
        csv=report("results/data.csv", category="Text"),
        lengths="results/data_lengths.csv",
        md="results/data.md",
        pdf="results/data.pdf",
        png=report("results/data.png", category="Text"),
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
