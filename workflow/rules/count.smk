"""What every stage has left of every corpus, added up."""

if PREPARED:

    rule sum_counts:
        """Add up the counts of all shards, corpus by corpus, and find out which words the vocabularies lack."""
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
            counts="data/corpora.json",
        log:
            "logs/count/sum.log",
        localrule: True
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
