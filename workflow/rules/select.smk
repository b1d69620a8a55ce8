"""Select training text by bilingual cross-entropy difference (Axelrod et al., 2011), the same for any number of shards.

In:  data/tokens of the training and in-domain corpora.
Out: data/selected of the training corpora: the pairs with the best scores, the others as empty lines.
"""

# KenLM's programs, one build for all experiments. Jobs have the small file as an input that says what was built, so they are
# not repeated if the programs are built again or for another experiment. The programs are not outputs of the rule: Snakemake
# removes outputs before it runs a rule, so a second experiment would take them away from the jobs of the first. The path is
# relative, so that no job is repeated if the checkout is moved.
KENLM_BUILD = os.path.relpath(ROOT / ".kenlm" / "build.json")

# The training corpora of each word budget.
BUDGETS = experiment.collect_budgets(CONFIG)


# A local rule, since compute nodes often cannot reach the internet. One build serves every experiment of this checkout.
rule kenlm_programs:
    """Provide KenLM's programs: links to those on the path, or built from the pinned source archive."""
    output:
        build=KENLM_BUILD,
    log:
        "logs/select/kenlm_programs.log",
    localrule: True
    threads: 4
    script:
        "../scripts/kenlm_programs.py"


if PREPARED_CORPORA and CONFIG.selection.enabled:

    BUDGET_BY_CORPUS = {corpus: budget for budget, corpora in BUDGETS.items() for corpus in corpora}

    rule sample_out_of_domain:
        """Draw the text of the out-of-domain language models at random from the training text."""
        input:
            source=paths.token_files(CONFIG.use.train, SOURCE),
            target=paths.token_files(CONFIG.use.train, TARGET),
            in_domain=jobs.in_domain_text(SOURCE),
        output:
            source=f"data/selection/lm/out.{SOURCE}.zst",
            target=f"data/selection/lm/out.{TARGET}.zst",
        log:
            "logs/select/sample.log",
        resources:
            mem_mb=scale_memory(4000),
            runtime=scale_minutes(30, per_input_gb=60),
        params:
            settings={
                "seed": CONFIG.seed,
                "pairs": CONFIG.selection.sample_pairs,
                "corpora": CONFIG.use.train,  # their order decides which pairs a seed draws
            },
        script:
            "../scripts/sample.py"

    rule language_model:
        """Train one of the four language models (in- or out-of-domain, source or target) with KenLM's lmplz."""
        input:
            text=jobs.language_model_text,
            # the vocabulary of the model is the words of this text, if there is any
            vocabulary_text=jobs.language_model_vocabulary_text,
            programs=KENLM_BUILD,
        output:
            model="data/selection/lm/{domain}.{language}.binary",
        log:
            "logs/select/{domain}.{language}.log",
        wildcard_constraints:
            domain="in|out",
        resources:
            mem_mb=scale_memory(jobs.data_memory, per_input_mb=2),
            runtime=scale_minutes(60, per_input_gb=60),
        params:
            settings={
                "order": CONFIG.selection.order,
                "discount_fallback": CONFIG.selection.discount_fallback,
                "min_count": CONFIG.selection.lm_vocabulary_min_count,
                "max_extra_words": None,  # only Moses' language model has extra text
            },
        script:
            "../scripts/language_model.py"

    rule threshold:
        """Find the score threshold of a word budget: the better pairs of all shards have as many words as the budget."""
        input:
            scores=jobs.budget_scores,
        output:
            threshold="data/selection/{budget}.threshold.json",
        log:
            "logs/select/{budget}.threshold.log",
        resources:
            mem_mb=scale_memory(4000),
            runtime=scale_minutes(30),
        params:
            settings=lambda wildcards: job_settings.get_budget_settings(CONFIG, wildcards.budget),
        script:
            "../scripts/threshold.py"

    # As in prepare.smk, there is a rule for each corpus. Its job works on several shards at the same time.
    for corpus, budget in BUDGET_BY_CORPUS.items():

        rule:
            """Score the pairs of a corpus: cross-entropy difference summed over both sides, smaller is better."""
            name:
                f"score_pairs_{corpus}"
            input:
                source=paths.token_files([corpus], SOURCE),
                target=paths.token_files([corpus], TARGET),
                source_models=expand(f"data/selection/lm/{{domain}}.{SOURCE}.binary", domain=["in", "out"]),
                target_models=expand(f"data/selection/lm/{{domain}}.{TARGET}.binary", domain=["in", "out"]),
                programs=KENLM_BUILD,
            output:
                scores=temp(expand("data/selection/{shard}.scores.npy", shard=paths.list_shards([corpus]))),
            log:
                f"logs/select/{corpus}.score.log",
            threads: jobs.shard_threads(corpus)
            resources:
                mem_mb=scale_memory(4000, per_input_mb=2),
                runtime=scale_minutes(30, per_input_gb=120),
            script:
                "../scripts/score_pairs.py"

        rule:
            """Keep the pairs of a corpus that score below the threshold; the others become empty lines."""
            name:
                f"select_pairs_{corpus}"
            input:
                threshold=f"data/selection/{budget}.threshold.json",
                scores=expand("data/selection/{shard}.scores.npy", shard=paths.list_shards([corpus])),
                source=paths.token_files([corpus], SOURCE),
                target=paths.token_files([corpus], TARGET),
            output:
                source=paths.token_files([corpus], SOURCE, "selected"),
                target=paths.token_files([corpus], TARGET, "selected"),
                source_words=expand(
                    f"data/selected/{{shard}}.{SOURCE}.words.zst", shard=paths.list_shards([corpus])
                ),
                target_words=expand(
                    f"data/selected/{{shard}}.{TARGET}.words.zst", shard=paths.list_shards([corpus])
                ),
                counts=expand("data/selected/{shard}.counts.json", shard=paths.list_shards([corpus])),
            log:
                f"logs/select/{corpus}.log",
            threads: jobs.shard_threads(corpus)
            resources:
                mem_mb=scale_memory(2000, per_input_mb=1),
                runtime=scale_minutes(30, per_input_gb=60),
            script:
                "../scripts/select.py"
