"""What every stage has left of every corpus, added up, and what training text shares with held-out text."""

if PREPARED:

    rule overlap:
        """Count the pairs of a training corpus of which the development or test text has a side, too."""
        input:
            source=lambda wildcards: tokens([wildcards.corpus], SOURCE),
            target=lambda wildcards: tokens([wildcards.corpus], TARGET),
            held_out_source=tokens([*CONFIG.use.dev, *CONFIG.use.test], SOURCE),
            held_out_target=tokens([*CONFIG.use.dev, *CONFIG.use.test], TARGET),
        output:
            counts="data/overlap/{corpus}.json",
        log:
            "logs/count/overlap.{corpus}.log",
        threads: lambda wildcards: shard_threads(wildcards.corpus)
        resources:
            mem_mb=memory(2000),
            runtime=minutes(30, 600),
        script:
            "../scripts/overlap.py"

    rule sum_counts:
        """Add up the counts of all shards, corpus by corpus, and find out which words the vocabularies lack."""
        input:
            settings=SETTINGS.add(
                "count",
                {
                    "languages": [SOURCE, TARGET],
                    "corpora": [
                        {
                            "name": corpus,
                            "part": experiment.get_role(CONFIG, corpus),
                            "shards": CONFIG.corpora[corpus].shards,
                            "stages": experiment.list_stages(CONFIG, corpus),
                        }
                        for corpus in PREPARED
                    ],
                },
            ),
            raw=expand("data/raw/{corpus}/counts.json", corpus=PREPARED),
            overlap=expand("data/overlap/{corpus}.json", corpus=CONFIG.use.train),
            counts=[
                f"data/{stage}/{shard}.counts.json"
                for corpus in PREPARED
                for stage in experiment.list_stages(CONFIG, corpus)
                for shard in shards([corpus])
            ],
            words=[
                f"data/{experiment.list_stages(CONFIG, corpus)[-1]}/{shard}.{language}.words.zst"
                for corpus in PREPARED
                for shard in shards([corpus])
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
