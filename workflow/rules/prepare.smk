"""From archives, files or the grammar to tokens. Both sides always have as many lines."""

# Corpora by how they come: in files, in files of one language, from the grammar.
IN_FILES = [corpus for corpus in PREPARED if CONFIG.corpora[corpus].grammar is None]
MONOLINGUAL = experiment.list_lm_corpora(CONFIG)
GENERATED = [corpus for corpus in PREPARED if CONFIG.corpora[corpus].grammar is not None]


# A corpus has as many shards as its settings say, and outputs cannot depend on wildcards: one rule per corpus.
for corpus in IN_FILES:

    rule:
        """Take both sides of a corpus out of their archives or files and deal their lines to shards."""
        name:
            f"extract_{corpus}"
        input:
            settings=SETTINGS.add(
                f"extract/{corpus}", job_settings.get_extraction_settings(CONFIG.corpora[corpus])
            ),
            source=place_of(CONFIG.corpora[corpus].source),
            target=place_of(CONFIG.corpora[corpus].target),
        output:
            source=raw_text(corpus, SOURCE),
            target=raw_text(corpus, TARGET),
            counts=f"data/raw/{corpus}/counts.json",
        log:
            f"logs/extract/{corpus}.log",
        resources:
            mem_mb=memory(2000),
            runtime=minutes(60, 60),
        script:
            "../scripts/extract.py"


for corpus in MONOLINGUAL:

    rule:
        """Take the target side of a corpus out of its archive and deal its lines to shards."""
        name:
            f"extract_{corpus}"
        input:
            settings=SETTINGS.add(
                f"extract/{corpus}", job_settings.get_extraction_settings(CONFIG.corpora[corpus])
            ),
            target=place_of(CONFIG.corpora[corpus].target),
        output:
            target=raw_text(corpus, TARGET),
            counts=f"data/raw/{corpus}/counts.json",
        log:
            f"logs/extract/{corpus}.log",
        resources:
            mem_mb=memory(2000),
            runtime=minutes(60, 60),
        script:
            "../scripts/extract.py"


for corpus in GENERATED:

    rule:
        """Let the project's grammar write a corpus, with its word alignments."""
        name:
            f"generate_{corpus}"
        input:
            settings=SETTINGS.add(
                f"generate/{corpus}",
                {
                    "grammar": CONFIG.grammar.model_dump(mode="json"),
                    "split": CONFIG.corpora[corpus].grammar.split,
                    "pairs": CONFIG.corpora[corpus].grammar.pairs,
                },
            ),
        output:
            source=raw_text(corpus, SOURCE),
            target=raw_text(corpus, TARGET),
            alignment=raw_text(corpus, "align"),
            counts=f"data/raw/{corpus}/counts.json",
        log:
            f"logs/generate/{corpus}.log",
        resources:
            mem_mb=memory(2000),
            runtime=minutes(60),
        script:
            "../scripts/generate.py"


for corpus in (*PREPARED, *MONOLINGUAL):
    SETTINGS.add(f"prepare/{corpus}", job_settings.get_preparation_settings(CONFIG, corpus))

if MONOLINGUAL:

    rule prepare_monolingual:
        """Tokenize a shard of text in the target language."""
        input:
            settings="settings/prepare/{corpus}.json",
            target=f"data/raw/{{corpus}}/{{number}}.{TARGET}.zst",
        output:
            target=f"data/tokens/{{corpus}}/{{number}}.{TARGET}.zst",
        log:
            "logs/prepare/{corpus}/{number}.log",
        wildcard_constraints:
            corpus=options.any_of(MONOLINGUAL),
        resources:
            mem_mb=memory(2000),
            runtime=minutes(30, 600),
        script:
            "../scripts/prepare_monolingual.py"


if PREPARED:

    rule prepare:
        """Clean and tokenize a shard in one pass, and count its words.

        Pairs that the settings refuse become empty lines on both sides, so that line numbers stay in step.
        """
        input:
            settings="settings/prepare/{corpus}.json",
            source=f"data/raw/{{corpus}}/{{number}}.{SOURCE}.zst",
            target=f"data/raw/{{corpus}}/{{number}}.{TARGET}.zst",
        output:
            source=f"data/tokens/{{corpus}}/{{number}}.{SOURCE}.zst",
            target=f"data/tokens/{{corpus}}/{{number}}.{TARGET}.zst",
            source_words=f"data/tokens/{{corpus}}/{{number}}.{SOURCE}.words.zst",
            target_words=f"data/tokens/{{corpus}}/{{number}}.{TARGET}.words.zst",
            counts="data/tokens/{corpus}/{number}.counts.json",
        log:
            "logs/prepare/{corpus}/{number}.log",
        wildcard_constraints:
            corpus=options.any_of(PREPARED),
        resources:
            mem_mb=memory(2000),
            runtime=minutes(30, 600),
        script:
            "../scripts/prepare.py"
