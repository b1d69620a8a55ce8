"""From archives, files or the grammar to tokens. Both sides always have as many lines.

What is made of a shard one after the other is sent to a cluster as one job (`group`). A group's name has no `_`: after the
first one come the rules, by which slurm/bin/sbatch finds another job that does the same work."""

# Corpora by how they come: in files, from the grammar, already as words.
EVERY_CORPUS = [*PREPARED, *experiment.lm_corpora(CONFIG)]
IN_FILES = [corpus for corpus in EVERY_CORPUS if CONFIG.corpora[corpus].grammar is None]
GENERATED = [corpus for corpus in EVERY_CORPUS if CONFIG.corpora[corpus].grammar is not None]
TOKENIZED = [corpus for corpus in EVERY_CORPUS if CONFIG.corpora[corpus].tokenized]


# A corpus has as many shards as its settings say, and outputs cannot depend on wildcards: one rule per corpus.
for corpus in IN_FILES:

    rule:
        """Take both sides of a corpus out of their archives or files and deal their lines to shards."""
        name:
            f"extract_{corpus}"
        input:
            source=options.place_of(CONFIG, CONFIG.corpora[corpus].source),
            target=options.place_of(CONFIG, CONFIG.corpora[corpus].target),
        output:
            source=expand("data/raw/{shard}.{language}.zst", shard=shards([corpus]), language=SOURCE),
            target=expand("data/raw/{shard}.{language}.zst", shard=shards([corpus]), language=TARGET),
            counts=f"data/raw/{corpus}/counts.json",
        log:
            f"logs/extract/{corpus}.log",
        resources:
            mem_mb=memory(2000),
            runtime=minutes(60, 60),
        params:
            members=constant(options.members(CONFIG, corpus)),
            source=lambda wildcards, output: options.repeated("output-source", output.source),
            target=lambda wildcards, output: options.repeated("output-target", output.target),
        shell:
            "nmt data extract --archive-source {input.source:q} --archive-target {input.target:q} {params.members}"
            " {params.source} {params.target} --counts {output.counts:q} 2>&1 | tee -i {log:q}"


for corpus in GENERATED:

    rule:
        """Let the project's grammar write a corpus, with its word alignments."""
        name:
            f"generate_{corpus}"
        output:
            source=expand("data/raw/{shard}.{language}.zst", shard=shards([corpus]), language=SOURCE),
            target=expand("data/raw/{shard}.{language}.zst", shard=shards([corpus]), language=TARGET),
            alignment=expand("data/raw/{shard}.align.zst", shard=shards([corpus])),
            counts=f"data/raw/{corpus}/counts.json",
        log:
            f"logs/generate/{corpus}.log",
        resources:
            mem_mb=memory(2000),
            runtime=minutes(60),
        params:
            settings=constant(CONFIG.grammar),
            split=CONFIG.corpora[corpus].grammar.split,
            pairs=CONFIG.corpora[corpus].grammar.pairs,
            source=lambda wildcards, output: options.repeated("output-source", output.source),
            target=lambda wildcards, output: options.repeated("output-target", output.target),
            alignment=lambda wildcards, output: options.repeated("output-alignment", output.alignment),
        shell:
            "nmt data generate --settings {params.settings:q} --split {params.split} --pairs {params.pairs}"
            " {params.source} {params.target} {params.alignment} --counts {output.counts:q} 2>&1 | tee -i {log:q}"


if PREPARED:

    rule clean:
        """Blank the pairs that the settings refuse, on both sides, so that line numbers stay in step; count why.

        Development and test text loses only pairs with an empty side; the limits are for all other text.
        """
        input:
            source=f"data/raw/{{corpus}}/{{shard}}.{SOURCE}.zst",
            target=f"data/raw/{{corpus}}/{{shard}}.{TARGET}.zst",
        output:
            source=f"data/clean/{{corpus}}/{{shard}}.{SOURCE}.zst",
            target=f"data/clean/{{corpus}}/{{shard}}.{TARGET}.zst",
            counts="data/clean/{corpus}/{shard}.counts.json",
        log:
            "logs/clean/{corpus}/{shard}.log",
        wildcard_constraints:
            corpus=options.none_of(TOKENIZED),
        group:
            "text.{corpus}.{shard}"
        resources:
            mem_mb=memory(2000),
            runtime=chain_minutes(15, 200),
        params:
            settings=lambda wildcards: projections.cleaning_settings(CONFIG, wildcards.corpus),
        shell:
            "nmt data clean --settings {params.settings:q} {input.source:q} {input.target:q}"
            " --output-source {output.source:q} --output-target {output.target:q} --counts {output.counts:q}"
            " 2>&1 | tee -i {log:q}"

    use rule clean as clean_tokenized with:
        # Text that came as words: cleaned, it is what the other corpora are after tokenization.
        output:
            source=f"data/tokens/{{corpus}}/{{shard}}.{SOURCE}.zst",
            target=f"data/tokens/{{corpus}}/{{shard}}.{TARGET}.zst",
            counts="data/clean/{corpus}/{shard}.counts.json",
        wildcard_constraints:
            corpus=options.any_of(TOKENIZED),

    rule tokenize:
        """Tokenize one side of a shard by Moses' rules."""
        input:
            text="data/clean/{corpus}/{shard}.{language}.zst",
        output:
            tokens="data/tokens/{corpus}/{shard}.{language}.zst",
        log:
            "logs/tokenize/{corpus}/{shard}.{language}.log",
        wildcard_constraints:
            corpus=options.none_of(TOKENIZED),
        group:
            "text.{corpus}.{shard}"
        resources:
            mem_mb=memory(2000),
            runtime=chain_minutes(15, 200),
        params:
            settings=constant(CONFIG.tokenization),
        shell:
            "nmt data tokenize --language {wildcards.language} --settings {params.settings:q} {input.text:q}"
            " {output.tokens:q} 2>&1 | tee -i {log:q}"
