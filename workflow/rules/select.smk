"""Data selection by bilingual cross-entropy difference (Axelrod et al., 2011), the same for any number of shards."""

# KenLM's programs, one build for all experiments. Jobs have the small file as an input that says what was built: a build that
# is made again, or for another experiment, is no reason to repeat them.
KENLM = str(ROOT / ".kenlm")
KENLM_BUILD = f"{KENLM}/build.json"

IN_DOMAIN = experiment.list_in_domain_corpora(CONFIG)


# The network is where Snakemake runs, and one build serves every experiment of this checkout.
rule kenlm_programs:
    """Provide KenLM's programs: links to those on the path, or built from the pinned source archive."""
    output:
        programs=[f"{KENLM}/{program}" for program in ("lmplz", "build_binary", "query")],
        build=KENLM_BUILD,
    log:
        "logs/select/kenlm_programs.log",
    localrule: True
    threads: 4
    script:
        "../scripts/kenlm_programs.py"


if PREPARED and CONFIG.selection.enabled:

    BUDGETS = {experiment.name_budget(CONFIG, corpus) for corpus in CONFIG.use.train}

    for budget in BUDGETS:
        SETTINGS.add(
            f"selection/{budget}",
            {
                "words": experiment.get_budget_words(CONFIG, budget),
                "corpora": experiment.list_budget_corpora(CONFIG, budget),
            },
        )

    rule sample_out_of_domain:
        """Draw the text of the out-of-domain language models at random from the training text."""
        input:
            settings=SETTINGS.add(
                "selection/sample", {"seed": CONFIG.seed, "pairs": CONFIG.selection.sample_pairs}
            ),
            source=tokens(CONFIG.use.train, SOURCE),
            target=tokens(CONFIG.use.train, TARGET),
            in_domain=tokens(IN_DOMAIN, SOURCE),
        output:
            source=f"data/selection/lm/out.{SOURCE}.zst",
            target=f"data/selection/lm/out.{TARGET}.zst",
        log:
            "logs/select/sample.log",
        resources:
            mem_mb=memory(4000),
            runtime=minutes(30, 60),
        script:
            "../scripts/sample.py"

    rule language_model:
        """Train one of the four language models with KenLM's lmplz."""
        input:
            settings=SETTINGS.add(
                "selection/language_model",
                {
                    "order": CONFIG.selection.order,
                    "discount_fallback": CONFIG.selection.discount_fallback,
                    "least": CONFIG.selection.lm_vocabulary_min_count,
                    "also_words": None,
                },
            ),
            text=lambda wildcards: (
                tokens(IN_DOMAIN, wildcards.language)
                if wildcards.domain == "in"
                else [f"data/selection/lm/out.{wildcards.language}.zst"]
            ),
            # the text whose words are all that a model knows, if it does not know all words of its own
            words=lambda wildcards: (
                tokens(IN_DOMAIN, wildcards.language)
                if CONFIG.selection.lm_vocabulary == "in_domain"
                else []
            ),
            also=[],
            programs=KENLM_BUILD,
        output:
            model="data/selection/lm/{domain}.{language}.binary",
        log:
            "logs/select/{domain}.{language}.log",
        wildcard_constraints:
            domain="in|out",
        resources:
            mem_mb=memory(DATA_MEMORY, 2),
            runtime=minutes(60, 60),
        script:
            "../scripts/language_model.py"

    rule threshold:
        """Find the one score up to which all shards of a word budget together hold the words wanted."""
        input:
            settings="settings/selection/{budget}.json",
            scores=lambda wildcards: expand(
                "data/selection/{shard}.scores.npy",
                shard=shards(experiment.list_budget_corpora(CONFIG, wildcards.budget)),
            ),
        output:
            threshold="data/selection/{budget}.threshold.json",
        log:
            "logs/select/{budget}.threshold.log",
        resources:
            mem_mb=memory(4000),
            runtime=minutes(30),
        script:
            "../scripts/threshold.py"

    # As in prepare.smk, a rule for each corpus, whose job works on several shards at once.
    for corpus in CONFIG.use.train:

        rule:
            """Score the pairs of a corpus: cross-entropy difference summed over both sides, smaller is better."""
            name:
                f"score_pairs_{corpus}"
            input:
                source=tokens([corpus], SOURCE),
                target=tokens([corpus], TARGET),
                source_models=expand(f"data/selection/lm/{{domain}}.{SOURCE}.binary", domain=["in", "out"]),
                target_models=expand(f"data/selection/lm/{{domain}}.{TARGET}.binary", domain=["in", "out"]),
                programs=KENLM_BUILD,
            output:
                scores=temp(expand("data/selection/{shard}.scores.npy", shard=shards([corpus]))),
            log:
                f"logs/select/{corpus}.score.log",
            threads: shard_threads(corpus)
            resources:
                mem_mb=memory(4000, 2),
                runtime=minutes(30, 120),
            script:
                "../scripts/score_pairs.py"

        rule:
            """Keep the pairs of a corpus that score below the threshold; the others become empty lines."""
            name:
                f"select_pairs_{corpus}"
            input:
                threshold=f"data/selection/{experiment.name_budget(CONFIG, corpus)}.threshold.json",
                scores=expand("data/selection/{shard}.scores.npy", shard=shards([corpus])),
                source=tokens([corpus], SOURCE),
                target=tokens([corpus], TARGET),
            output:
                source=tokens([corpus], SOURCE, "selected"),
                target=tokens([corpus], TARGET, "selected"),
                source_words=selected_files(corpus, f"{SOURCE}.words.zst"),
                target_words=selected_files(corpus, f"{TARGET}.words.zst"),
                counts=selected_files(corpus, "counts.json"),
            log:
                f"logs/select/{corpus}.log",
            threads: shard_threads(corpus)
            resources:
                mem_mb=memory(2000, 1),
                runtime=minutes(30, 60),
            script:
                "../scripts/select.py"
