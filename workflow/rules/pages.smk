"""What a run is for, told once; what it found in words, the explorer, the playground, and a page with all results."""

from nmt.io.files import sha256

EXPERIMENT = "the paper" if Path.cwd() == ROOT else Path.cwd().name


# The two models that stand for what attention changes.
CONTRASTED = experiment.contrasted_models(CONFIG)

# Models whose weights a page has; somebody's published translations come without weights.
PLAYGROUND_MODELS = [] if KEPT else experiment.playground_models(CONFIG)
PLAYGROUND = ["results/playground.html"] if PLAYGROUND_MODELS else []

# Models whose trees the explorer shows, those of their first seeds; results that came without models have none.
TREE_MODELS = [] if KEPT else [model for model in CONFIG.use.models if CONFIG.models[model].makes_trees]

# What a run is for.
ARTIFACTS = [
    *expand("results/{table}.{form}", table=TABLES, form=["csv", "md", "tex"]),
    "results/tables.tex",
    *expand("results/{figure}.{form}", figure=FIGURES, form=["pdf", "png"]),
    *expand("results/{figure}.svg", figure=[name for name in FIGURES if name == "cho2014b_figure6"]),
    *expand("results/alignment_error_rate/{run}.json", run=measured_runs()),
    *DATA_REPORT,
    "results/finding.txt",
    "results/report.html",
    "results/explorer.html",
    *PLAYGROUND,
]

# What the page of the run shows of them, in its order.
SHOWN = [file for form in ("txt", "md", "png", "json") for file in ARTIFACTS if file.endswith(f".{form}")]


rule finding:
    """What the run has found, in a sentence."""
    input:
        scores=expand("scores/{run}.json", run=runs(CONTRASTED)),
    output:
        text="results/finding.txt",
    log:
        "logs/report/finding.log",
    localrule: True
    resources:
        mem_mb=2000,
        runtime=30,
    params:
        settings=report_settings,
        scores=lambda wildcards, input: options.repeated("score", input.scores),
    shell:
        "nmt page finding {params.scores} --settings {params.settings:q} --output {output.text:q} 2>&1 | tee -i {log:q}"


# What the explorer shows of each system, in the order of their names.
EXPLORED = [translated(system, "all") for system in labels_of(CONFIG)]
TREES = expand("trees/{run}.jsonl", run=TREE_MODELS)


rule explorer:
    """A page to explore the translations of every model in use and what each word attended to, in one file."""
    input:
        translations=EXPLORED,
        reference=test_tokens(TARGET),
        trees=TREES,
        given=[GIVEN["test"][system] for system in BASELINE],
    output:
        page=report("results/explorer.html", caption="../report/explorer.rst", category="Translations"),
    log:
        "logs/report/explorer.log",
    localrule: True
    resources:
        mem_mb=2000,
        runtime=30,
    params:
        translations=constant(options.paired("translations", labels_of(CONFIG).values(), EXPLORED)),
        given=lambda wildcards, input: options.paired("given", ["Moses"] * len(input.given), input.given),
        trees=constant(options.paired("trees", map(labels_of(CONFIG).get, TREE_MODELS), TREES)),
        compared=constant(options.repeated("compared", (CONFIG.models[model].label for model in CONTRASTED))),
        languages=f"{SOURCE} {TARGET}",
        title=f"Translations of {TEST}",
        seeds=constant(shown_seeds(CONFIG.use.models)),
    shell:
        "nmt page explorer {params.translations} {params.given} {params.trees} --reference {input.reference:q} {params.compared}"
        " --languages {params.languages} --title {params.title:q}"
        " --output {output.page:q} 2>&1 | tee -i {log:q}"


rule playground:
    """A page in which models translate what one types, in one file."""
    input:
        models=model_files_of(PLAYGROUND_MODELS),
        source=test_tokens(SOURCE),
        reference=test_tokens(TARGET),
    output:
        page=report("results/playground.html", caption="../report/playground.rst", category="Translations"),
    log:
        "logs/report/playground.log",
    localrule: True
    resources:
        mem_mb=memory(1000, per_input=4),
        runtime=30,
    params:
        models=options.repeated("model", map(model_folder, PLAYGROUND_MODELS)),
        megabytes=options.playground_size(CONFIG),
        title=lambda wildcards: f"Translate in the browser: {EXPERIMENT}",
        settings=lambda wildcards: projections.text_settings(CONFIG),
    shell:
        "nmt page playground {params.models} --source {input.source:q} --reference {input.reference:q}"
        " --megabytes {params.megabytes} --title {params.title:q} --settings {params.settings:q} --output {output.page:q}"
        " 2>&1 | tee -i {log:q}"


rule report:
    """All of a run's results as one page that needs nothing else."""
    input:
        artifacts=SHOWN,
        captions=str(OWN / "report"),
    output:
        page="results/report.html",
    log:
        "logs/report/report.log",
    localrule: True
    resources:
        mem_mb=2000,
        runtime=30,
    params:
        title=lambda wildcards: f"Neural machine translation: {EXPERIMENT}",
        papers=options.repeated("paper", (paper.name for paper in PAPERS.values())),
        artifacts=lambda wildcards, input: options.repeated("artifact", input.artifacts),
        beside=options.repeated("beside", map(os.path.basename, ["results/explorer.html", *PLAYGROUND])),
        seeds=constant(shown_seeds(CONFIG.artifacts.figure2_models)),
        configuration=lambda wildcards: projections.page_settings(CONFIG),
    shell:
        "nmt page report --title {params.title:q} {params.papers} {params.artifacts} {params.beside} --captions {input.captions:q} --seeds={params.seeds:q}"
        " --configuration {params.configuration:q} --benchmarks benchmarks --output {output.page:q} 2>&1 | tee -i {log:q}"
