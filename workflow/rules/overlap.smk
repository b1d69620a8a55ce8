"""Training pairs that share a sentence with the development or test set: counted, and left out if the settings say so."""

HELD_OUT = list(dict.fromkeys([*CONFIG.use.dev, *CONFIG.use.test]))
TOKENS = [f"data/tokens/{{shard}}.{language}.zst" for language in (SOURCE, TARGET)]


if PREPARED and CONFIG.overlap.drop == "none":

    rule overlap:
        """Count the training pairs that share a sentence with the development or test set."""
        input:
            source=f"data/tokens/{{corpus}}/{{shard}}.{SOURCE}.zst",
            target=f"data/tokens/{{corpus}}/{{shard}}.{TARGET}.zst",
            held_out=expand(TOKENS, shard=shards(HELD_OUT)),
        output:
            counts="data/overlap/{corpus}/{shard}.json",
        log:
            "logs/overlap/{corpus}/{shard}.log",
        group:
            "text.{corpus}.{shard}"
        resources:
            mem_mb=memory(1000),
            runtime=chain_minutes(15, 200),
        params:
            settings=constant(CONFIG.overlap),
            corpora=options.shards(CONFIG, HELD_OUT),
            held_out=lambda wildcards: options.patterns("held-out", TOKENS),
        shell:
            "nmt data overlap --settings {params.settings:q} {params.corpora} {params.held_out} {input.source:q} {input.target:q}"
            " --counts {output.counts:q} 2>&1 | tee -i {log:q}"

elif PREPARED:

    rule drop_overlap:
        """Blank the training pairs that share a sentence with the development or test set; count them."""
        input:
            source=f"data/tokens/{{corpus}}/{{shard}}.{SOURCE}.zst",
            target=f"data/tokens/{{corpus}}/{{shard}}.{TARGET}.zst",
            held_out=expand(TOKENS, shard=shards(HELD_OUT)),
        output:
            source=f"data/kept/{{corpus}}/{{shard}}.{SOURCE}.zst",
            target=f"data/kept/{{corpus}}/{{shard}}.{TARGET}.zst",
            counts="data/overlap/{corpus}/{shard}.json",
        log:
            "logs/overlap/{corpus}/{shard}.log",
        group:
            "text.{corpus}.{shard}"
        resources:
            mem_mb=memory(1000),
            runtime=chain_minutes(15, 200),
        params:
            settings=constant(CONFIG.overlap),
            corpora=options.shards(CONFIG, HELD_OUT),
            held_out=lambda wildcards: options.patterns("held-out", TOKENS),
        shell:
            "nmt data overlap --settings {params.settings:q} {params.corpora} {params.held_out} {input.source:q} {input.target:q}"
            " --counts {output.counts:q} --output-source {output.source:q} --output-target {output.target:q}"
            " 2>&1 | tee -i {log:q}"
