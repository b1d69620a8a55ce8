"""A phrase-based system on the same text: Moses, measured beside the models."""

# Moses' programs and scripts, one build for all experiments. Jobs have the small file as an input that says what was built.
MOSES = str(ROOT / ".moses")
MOSES_BUILD = f"{MOSES}/build.json"


rule moses_programs:
    """Provide Moses: links to an installation on the path, or a build of the pinned source."""
    output:
        build=MOSES_BUILD,
    log:
        "logs/moses/programs.log",
    localrule: True
    threads: 4
    params:
        archive=lambda wildcards, input: CONFIG.archives["mosesdecoder"].model_dump(),
        mirrors=lambda wildcards, input: CONFIG.mirrors,
    script:
        "../scripts/moses_programs.py"


if CONFIG.moses.enabled:

    # What a system searches with, beside its tables and language model.
    SEARCH = moses_settings("search", "reordering", "lm_order", "distortion_limit", "cube_pruning")
    TUNING = moses_settings("tuning", "tuner", "tuning_rounds", "tuning_n_best")
    TEXT_LIMITS = {
        "train": moses_settings("train", "max_words"),
        "dev": SETTINGS.add("moses/dev", {"sentences": CONFIG.moses.tuning_sentences}),
    }

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
            settings=lambda wildcards: TEXT_LIMITS[wildcards.part],
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
        script:
            "../scripts/moses_text.py"

    rule moses_align:
        """Align the words of the training text in both directions, and make one alignment of both."""
        input:
            settings=moses_settings("align", "alignment_block", "symmetrization"),
            source=f"moses/train.{SOURCE}",
            target=f"moses/train.{TARGET}",
            programs=MOSES_BUILD,
        output:
            aligned="moses/aligned",
        log:
            "logs/moses/align.log",
        threads: CONFIG.moses.threads
        resources:
            **LONG_JOB,
        script:
            "../scripts/moses_align.py"

    rule moses_phrases:
        """Extract and score phrases and their reordering."""
        input:
            settings=moses_settings("phrases", "max_phrase_words", "reordering"),
            source=f"moses/train.{SOURCE}",
            target=f"moses/train.{TARGET}",
            aligned="moses/aligned",
            programs=MOSES_BUILD,
        output:
            tables=TABLES_OF_PHRASES,
        log:
            "logs/moses/phrases.log",
        threads: CONFIG.moses.threads
        resources:
            **LONG_JOB,
        script:
            "../scripts/moses_phrases.py"

    rule moses_language_model:
        """Train the language model of the target side, and of monolingual text where the settings name some."""
        input:
            settings=SETTINGS.add(
                "moses/language_model",
                {
                    "order": CONFIG.moses.lm_order,
                    "discount_fallback": True,
                    "least": None,
                    "also_words": CONFIG.moses.lm_words,
                },
            ),
            text=[f"moses/train.{TARGET}"],
            words=[],
            also=[
                *CONFIG.moses.lm_text,
                *expand(f"data/tokens/{{shard}}.{TARGET}.zst", shard=shards(CONFIG.moses.lm_corpora)),
            ],
            programs=KENLM_BUILD,
        output:
            model="moses/language_model.binary",
        log:
            "logs/moses/language_model.log",
        resources:
            mem_mb=memory(DATA_MEMORY, 2),
            runtime=minutes(60, 60),
        script:
            "../scripts/language_model.py"

    rule moses_tune:
        """Choose the weights that translate the development text best."""
        input:
            settings=SEARCH,
            tuning=TUNING,
            tables=TABLES_OF_PHRASES,
            language_model="moses/language_model.binary",
            source=f"moses/dev.{SOURCE}",
            target=f"moses/dev.{TARGET}",
            programs=MOSES_BUILD,
        output:
            weights="moses/weights.txt",
        log:
            "logs/moses/tune.log",
        threads: CONFIG.moses.threads
        resources:
            **LONG_JOB,
        script:
            "../scripts/moses_tune.py"

    rule moses_translate:
        """Translate the test or development text with Moses."""
        input:
            settings=SEARCH,
            tables=TABLES_OF_PHRASES,
            language_model="moses/language_model.binary",
            weights="moses/weights.txt",
            source=lambda wildcards: set_tokens(wildcards.set, SOURCE),
            programs=MOSES_BUILD,
        output:
            translations="translations/{set}/moses.txt",
        log:
            "logs/moses/{set}/translate.log",
        threads: CONFIG.moses.threads
        resources:
            **LONG_JOB,
        script:
            "../scripts/moses_translate.py"

    use rule moses_translate as moses_n_best with:
        input:
            settings=SEARCH,
            n_best=moses_settings("n_best", "n_best", "n_best_factor"),
            tables=TABLES_OF_PHRASES,
            language_model="moses/language_model.binary",
            weights="moses/weights.txt",
            source=lambda wildcards: set_tokens(wildcards.set, SOURCE),
            programs=MOSES_BUILD,
        output:
            lists="moses/{set}/n_best.gz",
            translations="moses/{set}/n_best.txt",
        log:
            "logs/moses/{set}/n_best.log",


if CONFIG.moses.enabled and CONFIG.moses.phrase_model:

    # Text of the phrase pairs by part, and what a second system is made of: the same but for the phrase table.
    PHRASE_TEXT = [f"moses/phrases/{{part}}.{language}.zst" for language in (SOURCE, TARGET)]
    SCORED_TABLES = ["moses/phrases/phrase-table.gz", TABLES_OF_PHRASES[1]]

    SETTINGS.add("binarize/phrases_train", {"seed": CONFIG.seed})
    SETTINGS.add("binarize/phrases_dev", {"seed": None})

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
            settings="settings/binarize/phrases_{part}.json",
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
        script:
            "../scripts/binarize.py"

    use rule train as train_on_phrases with:
        input:
            settings="settings/train/{model}.json",
            train=expand("moses/phrases/train/{name}", name=BITEXT_FILES),
            dev=expand("moses/phrases/dev/{name}", name=BITEXT_FILES),
            source_vocabulary=f"{DATA}/vocabulary/{SOURCE}.tsv",
            target_vocabulary=f"{DATA}/vocabulary/{TARGET}.tsv",
        wildcard_constraints:
            model=re.escape(CONFIG.moses.phrase_model),

    ruleorder: train_on_phrases > train

    rule moses_phrase_scores:
        """Give the phrase table the model's p(target phrase given source phrase) as one more score."""
        input:
            table=TABLES_OF_PHRASES[0],
            model=[f"models/{CONFIG.moses.phrase_model}/{name}" for name in NEEDED_FILES],
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
            compute=lambda wildcards, input: CONFIG.decoding.model_dump(include={"device", "threads"}),
        script:
            "../scripts/moses_phrase_scores.py"

    use rule moses_tune as moses_tune_scored with:
        input:
            settings=SEARCH,
            tuning=TUNING,
            tables=SCORED_TABLES,
            language_model="moses/language_model.binary",
            source=f"moses/dev.{SOURCE}",
            target=f"moses/dev.{TARGET}",
            programs=MOSES_BUILD,
        output:
            weights="moses/phrases/weights.txt",
        log:
            "logs/moses/tune_scored.log",

    use rule moses_translate as moses_translate_scored with:
        input:
            settings=SEARCH,
            tables=SCORED_TABLES,
            language_model="moses/language_model.binary",
            weights="moses/phrases/weights.txt",
            source=lambda wildcards: set_tokens(wildcards.set, SOURCE),
            programs=MOSES_BUILD,
        output:
            translations=f"translations/{{set}}/{WITH_PHRASE_MODEL}.txt",
        log:
            "logs/moses/{set}/translate_scored.log",
