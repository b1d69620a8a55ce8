"""Train, tune and measure a phrase-based system, Moses, on the same text as the models.

In:  training and development text of the models, further text for the language model.
Out: translations/SET/moses.txt and, with a model that scores phrases, translations/SET/moses-rnnenc.txt.
"""

# Moses' programs and scripts, one build for all experiments. Jobs have the small file as an input that says what was built.
# The path is relative, so that no job is repeated if the checkout is moved.
MOSES_BUILD = os.path.relpath(ROOT / ".moses" / "build.json")


rule moses_programs:
    """Provide Moses: links to an installation on the path, or a build of the pinned source."""
    output:
        build=MOSES_BUILD,
    log:
        "logs/moses/programs.log",
    localrule: True
    threads: 4
    params:
        archive=no_rerun_if_changed(CONFIG.archives["mosesdecoder"].model_dump()),
        mirrors=no_rerun_if_changed(CONFIG.mirrors),
    script:
        "../scripts/moses_programs.py"


if CONFIG.moses.enabled:

    # Settings of the search, of the tuning, and of the text of each split.
    SEARCH_SETTINGS = jobs.select_moses_settings("reordering", "lm_order", "distortion_limit", "cube_pruning")
    TUNING_SETTINGS = jobs.select_moses_settings("tuner", "tuning_rounds", "tuning_n_best")
    TEXT_SETTINGS_BY_SPLIT = {
        "train": {"max_words": CONFIG.moses.max_words},
        "dev": {"sentences": CONFIG.moses.tuning_sentences},
    }

    # Requests of jobs that may take hours.
    LONG_JOB_RESOURCES = {
        "mem_mb": scale_memory(jobs.data_memory),
        "runtime": math.ceil(60 * CONFIG.resources.moses_hours),
    }

    # Folders of the text of `lm_corpora`. With `data_from`, text of the models is in the folder of another experiment.
    LM_FOLDERS = {
        corpus: "data" if corpus in MONOLINGUAL_CORPORA else DATA for corpus in CONFIG.moses.lm_corpora
    }

    PHRASE_TABLE, REORDERING_TABLE = "moses/phrase-table.gz", "moses/reordering-table.gz"
    MOSES_TABLES = [PHRASE_TABLE, REORDERING_TABLE]

    rule moses_text:
        """Write training or development text as the plain files that Moses reads."""
        input:
            source=lambda wildcards: paths.training_files(wildcards.split, SOURCE),
            target=lambda wildcards: paths.training_files(wildcards.split, TARGET),
        output:
            source=f"moses/{{split}}.{SOURCE}",
            target=f"moses/{{split}}.{TARGET}",
        log:
            "logs/moses/text.{split}.log",
        resources:
            mem_mb=scale_memory(2000),
            runtime=scale_minutes(30, per_input_gb=60),
        params:
            settings=lambda wildcards: TEXT_SETTINGS_BY_SPLIT[wildcards.split],
            rerun_if_order_changes=lambda wildcards: getattr(CONFIG.use, wildcards.split),
        script:
            "../scripts/moses_text.py"

    rule moses_align:
        """Align the words of the training text in both directions, and make one alignment of both."""
        input:
            source=f"moses/train.{SOURCE}",
            target=f"moses/train.{TARGET}",
            programs=MOSES_BUILD,
        output:
            alignment="moses/aligned",
        log:
            "logs/moses/align.log",
        threads: CONFIG.moses.threads
        resources:
            **LONG_JOB_RESOURCES,
        params:
            settings=jobs.select_moses_settings("alignment_block", "symmetrization"),
        script:
            "../scripts/moses_align.py"

    rule moses_phrases:
        """Extract and score phrases and their reordering."""
        input:
            source=f"moses/train.{SOURCE}",
            target=f"moses/train.{TARGET}",
            alignment="moses/aligned",
            programs=MOSES_BUILD,
        output:
            tables=MOSES_TABLES,
        log:
            "logs/moses/phrases.log",
        threads: CONFIG.moses.threads
        resources:
            **LONG_JOB_RESOURCES,
        params:
            settings=jobs.select_moses_settings("max_phrase_words", "reordering"),
        script:
            "../scripts/moses_phrases.py"

    rule moses_language_model:
        """Train the language model on the target side and, if the settings name some, on monolingual text."""
        input:
            text=[f"moses/train.{TARGET}"],
            extra_files=CONFIG.moses.lm_text,
            extra_shards=[
                f"{folder}/tokens/{shard}.{TARGET}.zst"
                for corpus, folder in LM_FOLDERS.items()
                for shard in paths.list_shards([corpus])
            ],
            programs=KENLM_BUILD,
        output:
            model="moses/language_model.binary",
        log:
            "logs/moses/language_model.log",
        resources:
            mem_mb=scale_memory(jobs.data_memory, per_input_mb=2),
            runtime=scale_minutes(60, per_input_gb=60),
        params:
            settings={
                "order": CONFIG.moses.lm_order,
                "discount_fallback": True,
                "min_count": None,  # all words of the text are known
                "max_extra_words": CONFIG.moses.lm_words,
            },
            # the extra text is read in this order, up to `max_extra_words`
            rerun_if_order_changes=[*CONFIG.moses.lm_text, *CONFIG.moses.lm_corpora],
            rerun_if_files_change=jobs.user_file_stamps,
        script:
            "../scripts/language_model.py"

    rule moses_tune:
        """Choose the weights that translate the development text best."""
        input:
            tables=MOSES_TABLES,
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
            **LONG_JOB_RESOURCES,
        params:
            settings=SEARCH_SETTINGS,
            tuning=TUNING_SETTINGS,
        script:
            "../scripts/moses_tune.py"

    rule moses_translate:
        """Translate the test or development text with Moses."""
        input:
            tables=MOSES_TABLES,
            language_model="moses/language_model.binary",
            weights="moses/weights.txt",
            source=lambda wildcards: paths.evaluation_file(wildcards.set, SOURCE),
            programs=MOSES_BUILD,
        output:
            translations="translations/{set}/moses.txt",
        log:
            "logs/moses/{set}/translate.log",
        threads: CONFIG.moses.threads
        resources:
            **LONG_JOB_RESOURCES,
        params:
            settings=SEARCH_SETTINGS,
        script:
            "../scripts/moses_translate.py"

    use rule moses_translate as moses_n_best with:
        input:
            tables=MOSES_TABLES,
            language_model="moses/language_model.binary",
            weights="moses/weights.txt",
            source=lambda wildcards: paths.evaluation_file(wildcards.set, SOURCE),
            programs=MOSES_BUILD,
        output:
            n_best_lists="moses/{set}/n_best.gz",
            translations="moses/{set}/n_best.txt",
        log:
            "logs/moses/{set}/n_best.log",
        params:
            settings=SEARCH_SETTINGS,
            n_best=jobs.select_moses_settings("n_best", "n_best_factor"),


if CONFIG.moses.enabled and CONFIG.moses.phrase_model:

    # Text of the phrase pairs, and the tables of a second system. It has a phrase table of its own, but not a reordering
    # table.
    SOURCE_PHRASES = f"moses/phrases/{{split}}.{SOURCE}.zst"
    TARGET_PHRASES = f"moses/phrases/{{split}}.{TARGET}.zst"
    SCORED_PHRASE_TABLE = "moses/phrases/phrase-table.gz"
    SCORED_TABLES = [SCORED_PHRASE_TABLE, REORDERING_TABLE]

    rule moses_phrase_pairs:
        """Write each pair of the phrase table once, as training text; some pairs become development text."""
        input:
            table=PHRASE_TABLE,
        output:
            train=expand([SOURCE_PHRASES, TARGET_PHRASES], split="train"),
            dev=expand([SOURCE_PHRASES, TARGET_PHRASES], split="dev"),
        log:
            "logs/moses/phrase_pairs.log",
        resources:
            mem_mb=scale_memory(2000),
            runtime=scale_minutes(30, per_input_gb=60),
        script:
            "../scripts/moses_phrase_pairs.py"

    rule moses_phrase_ids:
        """Turn phrase pairs into memory-mapped ids, with the vocabularies of the training text."""
        input:
            **VOCABULARIES,
            source=[SOURCE_PHRASES],
            target=[TARGET_PHRASES],
        output:
            [f"moses/phrases/{{split}}/{name}" for name in BITEXT_FILES],
        log:
            "logs/moses/phrase_ids.{split}.log",
        resources:
            mem_mb=scale_memory(jobs.data_memory, per_input_mb=1),
            runtime=scale_minutes(60, per_input_gb=60),
        params:
            # only training text is shuffled
            settings=lambda wildcards: {"seed": CONFIG.seed if wildcards.split == "train" else None},
        script:
            "../scripts/binarize.py"

    use rule train as train_on_phrases with:
        input:
            **VOCABULARIES,
            train=expand("moses/phrases/train/{name}", name=BITEXT_FILES),
            dev=expand("moses/phrases/dev/{name}", name=BITEXT_FILES),
        wildcard_constraints:
            run=re.escape(CONFIG.moses.phrase_model),

    ruleorder: train_on_phrases > train

    rule moses_phrase_scores:
        """Give the phrase table the model's p(target phrase given source phrase) as one more score."""
        input:
            table=PHRASE_TABLE,
            model=[f"models/{CONFIG.moses.phrase_model}/{name}" for name in NEEDED_FILES],
            text=[f"moses/dev.{SOURCE}", *(paths.evaluation_file(set_name, SOURCE) for set_name in SETS)],
        output:
            table=SCORED_PHRASE_TABLE,
        log:
            "logs/moses/phrase_scores.log",
        threads: jobs.model_threads
        resources:
            **LONG_JOB_RESOURCES,
            gpu=count_gpus(CONFIG.decoding.device),
        params:
            device_and_threads=no_rerun_if_changed(CONFIG.decoding.model_dump(include={"device", "threads"})),
        script:
            "../scripts/moses_phrase_scores.py"

    use rule moses_tune as moses_tune_scored with:
        input:
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
            tables=SCORED_TABLES,
            language_model="moses/language_model.binary",
            weights="moses/phrases/weights.txt",
            source=lambda wildcards: paths.evaluation_file(wildcards.set, SOURCE),
            programs=MOSES_BUILD,
        output:
            translations=f"translations/{{set}}/{MOSES_WITH_RNNENC}.txt",
        log:
            "logs/moses/{set}/translate_scored.log",
