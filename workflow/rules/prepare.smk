"""From archives, files or the grammar to tokens. Both sides always have as many lines."""

# Corpora by how they come: in files, from the grammar.
EVERY_CORPUS = [*PREPARED, *experiment.lm_corpora(CONFIG)]
IN_FILES = [corpus for corpus in EVERY_CORPUS if CONFIG.corpora[corpus].grammar is None]
GENERATED = [corpus for corpus in EVERY_CORPUS if CONFIG.corpora[corpus].grammar is not None]


# A corpus has as many shards as its settings say, and outputs cannot depend on wildcards: one rule per corpus.
for corpus in IN_FILES:

    rule:
        """Take both sides of a corpus out of their archives or files and deal their lines to shards."""
        name:
            f"extract_{corpus}"
        input:
            source=place_of(CONFIG.corpora[corpus].source),
            target=place_of(CONFIG.corpora[corpus].target),
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
            # in this form, so that finished runs extract nothing again
            known=literal(options.members(CONFIG.corpora[corpus])),
            corpus=unrecorded(CONFIG.corpora[corpus].model_dump()),
        script:
            "../scripts/extract.py"


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
            settings=literal(CONFIG.grammar),
            split=CONFIG.corpora[corpus].grammar.split,
            pairs=CONFIG.corpora[corpus].grammar.pairs,
        script:
            "../scripts/generate.py"


if EVERY_CORPUS:

    rule prepare:
        """Clean and tokenize a shard in one pass; count its words, and the pairs that held-out text has, too.

        Pairs that the settings refuse become empty lines on both sides, so that line numbers stay in step.
        """
        input:
            source=f"data/raw/{{corpus}}/{{number}}.{SOURCE}.zst",
            target=f"data/raw/{{corpus}}/{{number}}.{TARGET}.zst",
            held_out_source=lambda wildcards: held_out_tokens(wildcards.corpus, SOURCE),
            held_out_target=lambda wildcards: held_out_tokens(wildcards.corpus, TARGET),
        output:
            source=f"data/tokens/{{corpus}}/{{number}}.{SOURCE}.zst",
            target=f"data/tokens/{{corpus}}/{{number}}.{TARGET}.zst",
            source_words=f"data/tokens/{{corpus}}/{{number}}.{SOURCE}.words.zst",
            target_words=f"data/tokens/{{corpus}}/{{number}}.{TARGET}.words.zst",
            counts="data/tokens/{corpus}/{number}.counts.json",
        log:
            "logs/prepare/{corpus}/{number}.log",
        resources:
            mem_mb=memory(2000),
            runtime=minutes(30, 600),
        params:
            settings=lambda wildcards: job_settings.preparation_settings(CONFIG, wildcards.corpus),
        script:
            "../scripts/prepare.py"
