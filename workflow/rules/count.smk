"""Count what every stage has left of every corpus, and what training text shares with held-out text.

In:  counts of shards and corpora in data/raw, data/tokens and data/selected; vocabularies.
Out: data/corpora.json, of which the table of the corpora is made.
"""

if PREPARED_CORPORA:

    STAGES_BY_CORPUS = {corpus: experiment.list_stages(CONFIG, corpus) for corpus in PREPARED_CORPORA}

    # For each shard, the files of its counts at all stages of its corpus, and of its words at the last stage.
    SHARD_COUNTS = []
    SHARD_WORDS = []
    for corpus, stages in STAGES_BY_CORPUS.items():
        for stage in stages:
            SHARD_COUNTS += [f"data/{stage}/{shard}.counts.json" for shard in paths.list_shards([corpus])]
        for shard in paths.list_shards([corpus]):
            stem = f"data/{stages[-1]}/{shard}"
            SHARD_WORDS += [f"{stem}.{SOURCE}.words.zst", f"{stem}.{TARGET}.words.zst"]

    rule overlap:
        """Count the pairs of a training corpus that share a side with the development or test text."""
        input:
            source=lambda wildcards: paths.token_files([wildcards.corpus], SOURCE),
            target=lambda wildcards: paths.token_files([wildcards.corpus], TARGET),
            held_out_source=paths.token_files([*CONFIG.use.dev, *CONFIG.use.test], SOURCE),
            held_out_target=paths.token_files([*CONFIG.use.dev, *CONFIG.use.test], TARGET),
        output:
            counts="data/overlap/{corpus}.json",
        log:
            "logs/count/overlap.{corpus}.log",
        threads: lambda wildcards: jobs.shard_threads(wildcards.corpus)
        resources:
            mem_mb=scale_memory(2000),
            runtime=scale_minutes(30, per_input_gb=600),
        script:
            "../scripts/overlap.py"

    rule sum_counts:
        """Add up the counts of all shards, corpus by corpus, and find out which words the vocabularies lack."""
        input:
            raw_counts=expand("data/raw/{corpus}/counts.json", corpus=PREPARED_CORPORA),
            overlap=expand("data/overlap/{corpus}.json", corpus=CONFIG.use.train),
            counts=SHARD_COUNTS,
            words=SHARD_WORDS,
            source_vocabulary=f"data/vocabulary/{SOURCE}.tsv",
            target_vocabulary=f"data/vocabulary/{TARGET}.tsv",
        output:
            counts="data/corpora.json",
        log:
            "logs/count/sum.log",
        localrule: True
        params:
            settings={
                "languages": [SOURCE, TARGET],
                "corpora": [
                    {
                        "name": corpus,
                        "part": experiment.get_role(CONFIG, corpus),
                        "shards": CONFIG.corpora[corpus].shards,
                        "stages": stages,
                    }
                    for corpus, stages in STAGES_BY_CORPUS.items()
                ],
            },
        script:
            "../scripts/sum_counts.py"
