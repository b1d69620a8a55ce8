"""Prepare text: from archives, files or the grammar to tokens. Both sides always have as many lines.

In:  data/archives, the user's own files.
Out: data/raw/CORPUS/SHARD.LANGUAGE.zst, data/tokens/CORPUS/SHARD.LANGUAGE.zst, words and counts of each shard.
"""

# Corpora by their origin: both sides in files, files of one language, the grammar.
CORPORA_IN_FILES = [corpus for corpus in PREPARED_CORPORA if CONFIG.corpora[corpus].grammar is None]
MONOLINGUAL_CORPORA = experiment.list_lm_corpora(CONFIG)
GENERATED_CORPORA = [corpus for corpus in PREPARED_CORPORA if CONFIG.corpora[corpus].grammar is not None]

for corpus in CORPORA_IN_FILES + MONOLINGUAL_CORPORA:
    SETTINGS_FILES.add(f"extract/{corpus}", job_settings.get_extraction_settings(CONFIG.corpora[corpus]))
for corpus in PREPARED_CORPORA + MONOLINGUAL_CORPORA:
    SETTINGS_FILES.add(f"prepare/{corpus}", job_settings.get_preparation_settings(CONFIG, corpus))
if PREPARED_CORPORA:  # read by experiments that take their text from this one
    SETTINGS_FILES.add("test", job_settings.get_test_settings(CONFIG))


# A corpus has as many shards as its settings say, and outputs cannot depend on wildcards: one rule per corpus.
for corpus in CORPORA_IN_FILES:

    rule:
        """Take both sides of a corpus out of their archives or files, and distribute their lines over shards."""
        name:
            f"extract_{corpus}"
        input:
            settings=f"settings/extract/{corpus}.json",
            source=origin_file(CONFIG.corpora[corpus].source),
            target=origin_file(CONFIG.corpora[corpus].target),
        output:
            source=raw_files(corpus, SOURCE),
            target=raw_files(corpus, TARGET),
            counts=f"data/raw/{corpus}/counts.json",
        log:
            f"logs/extract/{corpus}.log",
        resources:
            mem_mb=scale_memory(2000),
            runtime=scale_minutes(60, per_input_gb=60),
        script:
            "../scripts/extract.py"


for corpus in MONOLINGUAL_CORPORA:

    rule:
        """Take the target side of a corpus out of its archive, and distribute its lines over shards."""
        name:
            f"extract_{corpus}"
        input:
            settings=f"settings/extract/{corpus}.json",
            target=origin_file(CONFIG.corpora[corpus].target),
        output:
            target=raw_files(corpus, TARGET),
            counts=f"data/raw/{corpus}/counts.json",
        log:
            f"logs/extract/{corpus}.log",
        resources:
            mem_mb=scale_memory(2000),
            runtime=scale_minutes(60, per_input_gb=60),
        script:
            "../scripts/extract.py"


for corpus in GENERATED_CORPORA:

    rule:
        """Let the project's grammar write a corpus, with its word alignments."""
        name:
            f"generate_{corpus}"
        input:
            settings=SETTINGS_FILES.add(
                f"generate/{corpus}",
                {
                    "grammar": CONFIG.grammar.model_dump(mode="json"),
                    "split": CONFIG.corpora[corpus].grammar.split,
                    "pairs": CONFIG.corpora[corpus].grammar.pairs,
                },
            ),
        output:
            source=raw_files(corpus, SOURCE),
            target=raw_files(corpus, TARGET),
            alignment=raw_files(corpus, "align"),
            counts=f"data/raw/{corpus}/counts.json",
        log:
            f"logs/generate/{corpus}.log",
        resources:
            mem_mb=scale_memory(2000),
            runtime=scale_minutes(60),
        script:
            "../scripts/generate.py"


if MONOLINGUAL_CORPORA:

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
            corpus=options.match_any(MONOLINGUAL_CORPORA),
        resources:
            mem_mb=scale_memory(2000),
            runtime=scale_minutes(30, per_input_gb=600),
        script:
            "../scripts/prepare_monolingual.py"


if PREPARED_CORPORA:

    rule prepare:
        """Clean and tokenize a shard in one pass, and count its words.

        Pairs that the settings remove become empty lines on both sides, so that line numbers stay the same.
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
            corpus=options.match_any(PREPARED_CORPORA),
        resources:
            mem_mb=scale_memory(2000),
            runtime=scale_minutes(30, per_input_gb=600),
        script:
            "../scripts/prepare.py"
