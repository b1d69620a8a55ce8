"""A phrase-based system on the same text: Moses, measured beside the models."""

# Moses' programs and scripts, one build for all experiments.
MOSES = str(ROOT / ".moses")

# The archive of its source in the catalogue.
MOSES_SOURCE = f"data/archives/{CONFIG.archives['mosesdecoder'].path}"


rule moses_programs:
    """Provide Moses: links to an installation on the path, or a build of the pinned source."""
    input:
        source=[] if phrase_based.on_path() else ancient(MOSES_SOURCE),
    output:
        programs=f"{MOSES}/bin/moses",
    log:
        "logs/moses/programs.log",
    localrule: True
    threads: 4
    script:
        "../scripts/moses_programs.py"


if CONFIG.moses.enabled:

    # Keys of what a system searches with, beside its tables and language model.
    SEARCH = ("reordering", "lm_order", "distortion_limit", "cube_pruning")

    # What the jobs that may take hours ask for.
    LONG_JOB = {
        "mem_mb": memory(DATA_MEMORY),
        "runtime": minutes(60 * CONFIG.resources.moses_hours),
        "time_setting": "moses_hours",
    }

    TABLES_OF_PHRASES = ["moses/phrase-table.gz", "moses/reordering-table.gz"]

    rule moses_text:
        """Write training or development text as the plain files that Moses reads."""
        input:
            source=lambda wildcards: text_of(wildcards.part, SOURCE),
            target=lambda wildcards: text_of(wildcards.part, TARGET),
        output:
            source=f"moses/{{part}}.{SOURCE}",
            target=f"moses/{{part}}.{TARGET}",
        log:
            "logs/moses/text.{part}.log",
        resources:
            mem_mb=memory(2000),
            runtime=minutes(30, 60),
        params:
            settings=lambda wildcards: (
                moses_settings("max_words")
                if wildcards.part == "train"
                else {"sentences": CONFIG.moses.tuning_sentences}
            ),
        script:
            "../scripts/moses_text.py"

    rule moses_align:
        """Align the words of the training text in both directions, and make one alignment of both."""
        input:
            source=f"moses/train.{SOURCE}",
            target=f"moses/train.{TARGET}",
            programs=ancient(f"{MOSES}/bin/moses"),
        output:
            aligned="moses/aligned",
        log:
            "logs/moses/align.log",
        threads: CONFIG.moses.threads
        resources:
            **LONG_JOB,
        params:
            settings=moses_settings("alignment_block", "symmetrization"),
        script:
            "../scripts/moses_align.py"

    rule moses_phrases:
        """Extract and score phrases and their reordering."""
        input:
            source=f"moses/train.{SOURCE}",
            target=f"moses/train.{TARGET}",
            aligned="moses/aligned",
            programs=ancient(f"{MOSES}/bin/moses"),
        output:
            tables=TABLES_OF_PHRASES,
        log:
            "logs/moses/phrases.log",
        threads: CONFIG.moses.threads
        resources:
            **LONG_JOB,
        params:
            settings=moses_settings("max_phrase_words", "reordering"),
        script:
            "../scripts/moses_phrases.py"

    rule moses_language_model:
        """Train the language model of the target side, and of monolingual text where the settings name some."""
        input:
            text=[f"moses/train.{TARGET}"],
            words=[],
            also=[
                *CONFIG.moses.lm_text,
                *expand(f"data/tokens/{{shard}}.{TARGET}.zst", shard=shards(CONFIG.moses.lm_corpora)),
            ],
            programs=ancient(f"{KENLM}/lmplz"),
        output:
            model="moses/language_model.binary",
        log:
            "logs/moses/language_model.log",
        resources:
            mem_mb=memory(DATA_MEMORY, 2),
            runtime=minutes(60, 60),
        params:
            order=CONFIG.moses.lm_order,
            discount_fallback=True,
            also_words=CONFIG.moses.lm_words,
        script:
            "../scripts/language_model.py"

    rule moses_tune:
        """Choose the weights that translate the development text best."""
        input:
            tables=TABLES_OF_PHRASES,
            language_model="moses/language_model.binary",
            source=f"moses/dev.{SOURCE}",
            target=f"moses/dev.{TARGET}",
            programs=ancient(f"{MOSES}/bin/moses"),
        output:
            weights="moses/weights.txt",
        log:
            "logs/moses/tune.log",
        threads: CONFIG.moses.threads
        resources:
            **LONG_JOB,
        params:
            system=moses_settings(*SEARCH),
            tuning=moses_settings("tuner", "tuning_rounds", "tuning_n_best"),
        script:
            "../scripts/moses_tune.py"

    rule moses_translate:
        """Translate the test or development text with Moses."""
        input:
            tables=TABLES_OF_PHRASES,
            language_model="moses/language_model.binary",
            weights="moses/weights.txt",
            source=lambda wildcards: set_tokens(set_of(wildcards), SOURCE),
            programs=ancient(f"{MOSES}/bin/moses"),
        output:
            translations="translations/{dev}moses.txt",
        log:
            "logs/moses/{dev}translate.log",
        threads: CONFIG.moses.threads
        resources:
            **LONG_JOB,
        params:
            system=moses_settings(*SEARCH),
        script:
            "../scripts/moses_translate.py"

    use rule moses_translate as moses_n_best with:
        output:
            lists="moses/{dev}n_best.gz",
            translations="moses/{dev}n_best.txt",
        log:
            "logs/moses/{dev}n_best.log",
        params:
            system=moses_settings(*SEARCH),
            lists=moses_settings("n_best", "n_best_factor"),


if CONFIG.moses.enabled and CONFIG.moses.phrase_model:

    # Text of the phrase pairs by part, and what a second system is made of: the same but for the phrase table.
    PHRASE_TEXT = [f"moses/phrases/{{part}}.{language}.zst" for language in (SOURCE, TARGET)]
    SCORED_TABLES = ["moses/phrases/phrase-table.gz", TABLES_OF_PHRASES[1]]

    rule moses_phrase_pairs:
        """Write each pair of the phrase table once, to learn from; some are kept apart."""
        input:
            table=TABLES_OF_PHRASES[0],
        output:
            train=expand(PHRASE_TEXT, part="train"),
            dev=expand(PHRASE_TEXT, part="dev"),
        log:
            "logs/moses/phrase_pairs.log",
        resources:
            mem_mb=memory(2000),
            runtime=minutes(30, 60),
        script:
            "../scripts/moses_phrase_pairs.py"

    rule moses_phrase_ids:
        """Turn phrase pairs into memory-mapped ids, by the vocabularies of the sentences' models."""
        input:
            source=[PHRASE_TEXT[0]],
            target=[PHRASE_TEXT[1]],
            source_vocabulary=f"{DATA}/vocabulary/{SOURCE}.tsv",
            target_vocabulary=f"{DATA}/vocabulary/{TARGET}.tsv",
        output:
            [f"moses/phrases/{{part}}/{name}" for name in BITEXT_FILES],
        log:
            "logs/moses/phrase_ids.{part}.log",
        resources:
            mem_mb=memory(DATA_MEMORY, 1),
            runtime=minutes(60, 60),
        params:
            seed=lambda wildcards: CONFIG.seed if wildcards.part == "train" else None,
        script:
            "../scripts/binarize.py"

    use rule train as train_on_phrases with:
        input:
            train=ancient(expand("moses/phrases/train/{name}", name=BITEXT_FILES)),
            dev=ancient(expand("moses/phrases/dev/{name}", name=BITEXT_FILES)),
            source_vocabulary=ancient(f"{DATA}/vocabulary/{SOURCE}.tsv"),
            target_vocabulary=ancient(f"{DATA}/vocabulary/{TARGET}.tsv"),
        wildcard_constraints:
            model=re.escape(CONFIG.moses.phrase_model),

    ruleorder: train_on_phrases > train

    rule moses_phrase_scores:
        """Give the phrase table the model's p(target phrase given source phrase) as one more score."""
        input:
            table=TABLES_OF_PHRASES[0],
            model=[f"models/{CONFIG.moses.phrase_model}/{name}" for name in MODEL],
            text=[f"moses/dev.{SOURCE}", *(set_tokens(set_, SOURCE) for set_ in SETS)],
        output:
            table=SCORED_TABLES[0],
        log:
            "logs/moses/phrase_scores.log",
        threads: MODEL_CORES
        resources:
            **LONG_JOB,
            gpu=gpu_of(CONFIG.decoding.device),
        params:
            compute=CONFIG.decoding.model_dump(include={"device", "threads"}),
        script:
            "../scripts/moses_phrase_scores.py"

    use rule moses_tune as moses_tune_scored with:
        input:
            tables=SCORED_TABLES,
            language_model="moses/language_model.binary",
            source=f"moses/dev.{SOURCE}",
            target=f"moses/dev.{TARGET}",
            programs=ancient(f"{MOSES}/bin/moses"),
        output:
            weights="moses/phrases/weights.txt",
        log:
            "logs/moses/tune_scored.log",

    use rule moses_translate as moses_translate_scored with:
        input:
            tables=SCORED_TABLES,
            language_model="moses/language_model.binary",
            weights="moses/phrases/weights.txt",
            source=lambda wildcards: set_tokens(set_of(wildcards), SOURCE),
            programs=ancient(f"{MOSES}/bin/moses"),
        output:
            translations=f"translations/{{dev}}{WITH_PHRASE_MODEL}.txt",
        log:
            "logs/moses/{dev}translate_scored.log",
