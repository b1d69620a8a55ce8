"""Count what every stage has left of every corpus, and what training text shares with held-out text.

In:  counts of shards and corpora in data/raw, data/tokens and data/selected; vocabularies.
Out: data/corpora.json, of which the table of the corpora is made.
"""

if PREPARED:

    # The last stage of each corpus has its words.
    PREPARED_STAGES = {corpus: experiment.list_stages(CONFIG, corpus) for corpus in PREPARED}
    SETTINGS.add(
        "count",
        {
            "languages": [SOURCE, TARGET],
            "corpora": [
                {
                    "name": corpus,
                    "part": experiment.get_role(CONFIG, corpus),
                    "shards": CONFIG.corpora[corpus].shards,
                    "stages": stages,
                }
                for corpus, stages in PREPARED_STAGES.items()
            ],
        },
    )

    rule overlap:
        """Count the pairs of a training corpus of which the development or test text has a side, too."""
        input:
            source=corpus_source,
            target=corpus_target,
            held_out_source=token_files([*CONFIG.use.dev, *CONFIG.use.test], SOURCE),
            held_out_target=token_files([*CONFIG.use.dev, *CONFIG.use.test], TARGET),
        output:
            counts="data/overlap/{corpus}.json",
        log:
            "logs/count/overlap.{corpus}.log",
        threads: corpus_threads
        resources:
            mem_mb=scale_memory(2000),
            runtime=scale_minutes(30, per_input_gb=600),
        script:
            "../scripts/overlap.py"

    rule sum_counts:
        """Add up the counts of all shards, corpus by corpus, and find out which words the vocabularies lack."""
        input:
            settings="settings/count.json",
            raw=expand("data/raw/{corpus}/counts.json", corpus=PREPARED),
            overlap=expand("data/overlap/{corpus}.json", corpus=CONFIG.use.train),
            counts=[
                f"data/{stage}/{shard}.counts.json"
                for corpus, stages in PREPARED_STAGES.items()
                for stage in stages
                for shard in list_shards([corpus])
            ],
            words=[
                f"data/{stages[-1]}/{shard}.{language}.words.zst"
                for corpus, stages in PREPARED_STAGES.items()
                for shard in list_shards([corpus])
                for language in (SOURCE, TARGET)
            ],
            source_vocabulary=f"data/vocabulary/{SOURCE}.tsv",
            target_vocabulary=f"data/vocabulary/{TARGET}.tsv",
        output:
            counts="data/corpora.json",
        log:
            "logs/count/sum.log",
        localrule: True
        script:
            "../scripts/sum_counts.py"
