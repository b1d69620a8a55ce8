"""Prepare text: from archives, files or the grammar to tokens. Both sides always have as many lines.

In:  data/archives, the user's own files.
Out: data/raw/CORPUS/SHARD.LANGUAGE.zst, data/tokens/CORPUS/SHARD.LANGUAGE.zst, words and counts of each shard.
"""

# Corpora by their origin: both sides in files, files of one language, the grammar.
CORPORA_IN_FILES = [corpus for corpus in PREPARED_CORPORA if CONFIG.corpora[corpus].grammar is None]
MONOLINGUAL_CORPORA = experiment.list_lm_corpora(CONFIG)
GENERATED_CORPORA = [corpus for corpus in PREPARED_CORPORA if CONFIG.corpora[corpus].grammar is not None]


# A corpus has as many shards as its settings say, and outputs cannot depend on wildcards: one rule per corpus.
for corpus in CORPORA_IN_FILES:

    rule:
        """Take both sides of a corpus out of their archives or files, and distribute their lines over shards."""
        name:
            f"extract_{corpus}"
        input:
            source=paths.origin_file(CONFIG.corpora[corpus].source),
            target=paths.origin_file(CONFIG.corpora[corpus].target),
        output:
            source=raw_outputs(corpus, SOURCE),
            target=raw_outputs(corpus, TARGET),
            counts=f"data/raw/{corpus}/counts.json",
        log:
            f"logs/extract/{corpus}.log",
        resources:
            mem_mb=scale_memory(2000),
            runtime=scale_minutes(60, per_input_gb=60),
        params:
            settings=job_settings.get_extraction_settings(CONFIG.corpora[corpus]),
        script:
            "../scripts/extract.py"


for corpus in MONOLINGUAL_CORPORA:

    rule:
        """Take the target side of a corpus out of its archive, and distribute its lines over shards."""
        name:
            f"extract_{corpus}"
        input:
            target=paths.origin_file(CONFIG.corpora[corpus].target),
        output:
            target=raw_outputs(corpus, TARGET),
            counts=f"data/raw/{corpus}/counts.json",
        log:
            f"logs/extract/{corpus}.log",
        resources:
            mem_mb=scale_memory(2000),
            runtime=scale_minutes(60, per_input_gb=60),
        params:
            settings=job_settings.get_extraction_settings(CONFIG.corpora[corpus]),
        script:
            "../scripts/extract.py"


for corpus in GENERATED_CORPORA:

    rule:
        """Let the project's grammar write a corpus, with its word alignments."""
        name:
            f"generate_{corpus}"
        output:
            source=raw_outputs(corpus, SOURCE),
            target=raw_outputs(corpus, TARGET),
            alignment=raw_outputs(corpus, "align"),
            counts=f"data/raw/{corpus}/counts.json",
        log:
            f"logs/generate/{corpus}.log",
        resources:
            mem_mb=scale_memory(2000),
            runtime=scale_minutes(60),
        params:
            settings={
                "grammar": CONFIG.grammar.model_dump(mode="json"),
                "split": CONFIG.corpora[corpus].grammar.split,
                "pairs": CONFIG.corpora[corpus].grammar.pairs,
            },
        script:
            "../scripts/generate.py"


if MONOLINGUAL_CORPORA:

    rule prepare_monolingual:
        """Tokenize a shard of text in the target language."""
        input:
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
        params:
            settings=lambda wildcards: job_settings.get_preparation_settings(CONFIG, wildcards.corpus),
        script:
            "../scripts/prepare_monolingual.py"


if PREPARED_CORPORA:

    rule prepare:
        """Clean and tokenize a shard in one pass, and count its words.

        Pairs that the settings remove become empty lines on both sides, so that line numbers stay the same.
        """
        input:
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
        params:
            settings=lambda wildcards: job_settings.get_preparation_settings(CONFIG, wildcards.corpus),
        script:
            "../scripts/prepare.py"
