"""Data selection by bilingual cross-entropy difference (Axelrod et al., 2011), the same for any number of shards."""

# KenLM's programs, one build for all experiments.
KENLM = str(ROOT / ".kenlm")

IN_DOMAIN = experiment.in_domain_corpora(CONFIG)


# The network is where Snakemake runs, and one build serves every experiment of this checkout.
rule kenlm_programs:
    """Provide KenLM's programs: links to those on the path, or built from the pinned source archive."""
    output:
        [f"{KENLM}/{program}" for program in ("lmplz", "build_binary", "query")],
    log:
        "logs/select/kenlm_programs.log",
    localrule: True
    threads: 4
    params:
        folder=lambda wildcards, output: os.path.dirname(output[0]),
    script:
        "../scripts/kenlm_programs.py"


if PREPARED and CONFIG.selection.enabled:

    rule sample_out_of_domain:
        """Draw the text of the out-of-domain language models at random from the training text."""
        input:
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
        params:
            seed=CONFIG.seed,
            pairs=CONFIG.selection.sample_pairs,
        script:
            "../scripts/sample.py"

    rule language_model:
        """Train one of the four language models with KenLM's lmplz."""
        input:
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
            programs=ancient(f"{KENLM}/lmplz"),
        output:
            model="data/selection/lm/{domain}.{language}.binary",
        log:
            "logs/select/{domain}.{language}.log",
        wildcard_constraints:
            domain="in|out",
        resources:
            mem_mb=memory(DATA_MEMORY, 2),
            runtime=minutes(60, 60),
        params:
            order=CONFIG.selection.order,
            discount_fallback=CONFIG.selection.discount_fallback,
            least=CONFIG.selection.lm_vocabulary_least,
            also_words=None,
        script:
            "../scripts/language_model.py"

    rule score_pairs:
        """Score the pairs of a training shard: cross-entropy difference summed over both sides, smaller is better."""
        input:
            source=f"data/tokens/{{corpus}}/{{number}}.{SOURCE}.zst",
            target=f"data/tokens/{{corpus}}/{{number}}.{TARGET}.zst",
            source_models=expand(f"data/selection/lm/{{domain}}.{SOURCE}.binary", domain=["in", "out"]),
            target_models=expand(f"data/selection/lm/{{domain}}.{TARGET}.binary", domain=["in", "out"]),
            programs=ancient(f"{KENLM}/query"),
        output:
            scores="data/selection/{corpus}/{number}.scores.npy",
        log:
            "logs/select/{corpus}/{number}.score.log",
        group:
            "score.{corpus}"
        resources:
            mem_mb=memory(4000, 2),
            runtime=minutes(30, 120),
        script:
            "../scripts/score_pairs.py"

    rule threshold:
        """Find the one score up to which all shards of a word budget together hold the words wanted."""
        input:
            scores=lambda wildcards: expand(
                "data/selection/{shard}.scores.npy",
                shard=shards(experiment.corpora_of_budget(CONFIG, wildcards.budget)),
            ),
        output:
            threshold="data/selection/{budget}.threshold.json",
        log:
            "logs/select/{budget}.threshold.log",
        resources:
            mem_mb=memory(4000),
            runtime=minutes(30),
        params:
            words=lambda wildcards: experiment.words_of_budget(CONFIG, wildcards.budget),
        script:
            "../scripts/threshold.py"

    rule select:
        """Keep the pairs of a training shard that score below the threshold; the others become empty lines."""
        input:
            threshold=lambda wildcards: (
                f"data/selection/{experiment.budget_of(CONFIG, wildcards.corpus)}.threshold.json"
            ),
            scores="data/selection/{corpus}/{number}.scores.npy",
            source=f"data/tokens/{{corpus}}/{{number}}.{SOURCE}.zst",
            target=f"data/tokens/{{corpus}}/{{number}}.{TARGET}.zst",
        output:
            source=f"data/selected/{{corpus}}/{{number}}.{SOURCE}.zst",
            target=f"data/selected/{{corpus}}/{{number}}.{TARGET}.zst",
            source_words=f"data/selected/{{corpus}}/{{number}}.{SOURCE}.words.zst",
            target_words=f"data/selected/{{corpus}}/{{number}}.{TARGET}.words.zst",
            counts="data/selected/{corpus}/{number}.counts.json",
        log:
            "logs/select/{corpus}/{number}.log",
        group:
            "select.{corpus}"
        resources:
            mem_mb=memory(2000, 1),
            runtime=minutes(30, 60),
        script:
            "../scripts/select.py"
