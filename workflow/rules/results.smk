"""The replication package, and what is made of it: tables, figures, pages. Then what is published of models."""

EXPERIMENT = "the paper" if Path.cwd() == ROOT else Path.cwd().name
LISTED = list_outputs(CONFIG, list(PAPERS.values()))
DATA_REPORT = [f"results/{name}" for name in LISTED.data_files]

# Models whose weights a page has.
PLAYGROUND_MODELS = experiment.select_playground_models(CONFIG)
# Runs whose models this experiment has itself: all, unless they are somebody else's.
OWN_MODELS = [] if CONFIG.pretrained.models else RUNS_IN_USE

SCORED = [
    str(FOLDER.scores(set_name, system))
    for set_name in SETS
    for system in (*SYSTEMS_IN_USE, *OTHER_SYSTEMS[set_name])
]

# --- the replication package ------------------------------------------------------------------------------------------

# Translations of every system; then each other file with its copy in the package.
TRANSLATED = [(set_name, system, mode) for set_name in SETS for system in SYSTEMS_IN_USE for mode in MODES]
COPIED = [
    *((FOLDER.translations(*names), RESULTS.translations(*names)) for names in TRANSLATED),
    *(
        (set_tokens(set_name, side), RESULTS.text(set_name, side))
        for set_name in SETS
        for side in (SOURCE, TARGET)
    ),
    *(
        (file, RESULTS.other_translations(set_name, system))
        for set_name in OTHER_SYSTEMS
        for system, file in OTHER_SYSTEMS[set_name].items()
    ),
    *((file, RESULTS.raw_reference(TARGET)) for file in [raw_reference()] if file),
    *((vocabulary(language), RESULTS.vocabulary(language)) for language in (SOURCE, TARGET)),
    *((file, RESULTS.gold) for file in [gold_alignments()] if file),
    *((f"alignments/{run}.jsonl", RESULTS.alignments(run)) for run in LISTED.aligned),
    *(
        (f"{MODELS}/{run}/{name}", RESULTS.run_file(run, name))
        for run in RUNS_IN_USE
        for name in RECORD_FILES
    ),
    *((f"perplexity/{system}.json", RESULTS.perplexity(system)) for system in perplexities()),
    *((f"vectors/{entry.model}.tsv", RESULTS.vectors) for entry in [CONFIG.sentence_vectors] if entry),
    *(
        (FOLDER.bitext(part) / "meta.json", RESULTS.text_checksums(part))
        for part in ("train", "dev")
        if OWN_MODELS
    ),
]
# What the table of the corpora is made of, before there are models.
OF_CORPORA = [
    *((file, RESULTS.paper(paper)) for paper, file in PAPER_FILES.items()),
    *([(f"{DATA}/corpora.json", RESULTS.counts)] if LISTED.corpora else []),
]
PUBLISHED = SETTINGS.add("results", get_published_settings(CONFIG))
ORIGINALS, COPIES = ([str(file) for file in files] for files in zip(*COPIED))
MADE_WITH = records_of(COPIES[: len(TRANSLATED)])
REPLICATION_PACKAGE = [*COPIES, *(str(copy) for _, copy in OF_CORPORA), str(RESULTS.configuration)]


rule package_results:
    """Write the replication package, of which tables can be made again, if all of it is of the run's settings."""
    input:
        settings=PUBLISHED,
        written_settings=str(RESULTS.configuration),
        files=ORIGINALS,
        records=records_of(ORIGINALS[: len(TRANSLATED)]),
    output:
        files=COPIES,
        records=MADE_WITH,
    log:
        "logs/results/package.log",
    localrule: True
    params:
        attention=[
            str(FOLDER.translations("test", model, mode))
            for model in [CONFIG.artifacts.figure3_model]
            if model
            for mode in MODES
        ],
    script:
        "../scripts/package.py"


rule package_corpora:
    """Write what the table of the corpora is made of into the replication package."""
    input:
        files=[str(file) for file, _ in OF_CORPORA],
    output:
        files=[str(copy) for _, copy in OF_CORPORA],
    log:
        "logs/results/corpora.log",
    localrule: True
    script:
        "../scripts/package_corpora.py"


rule package_settings:
    """Write the run's settings beside its results."""
    input:
        settings=PUBLISHED,
    output:
        settings=str(RESULTS.configuration),
    log:
        "logs/results/settings.log",
    localrule: True
    shell:
        "cp {input.settings:q} {output.settings:q} 2> {log:q}"


# --- what is made of it -----------------------------------------------------------------------------------------------


rule compare:
    """How sure the scores are: intervals, paired significance of each pair of systems, and today's metrics."""
    input:
        package=REPLICATION_PACKAGE,
        scores=SCORED,
    output:
        files=["results/comparison.json"],
    log:
        "logs/results/compare.log",
    resources:
        mem_mb=4000,
        runtime=60,
    script:
        "../scripts/build.py"


rule tables:
    """Every table, the alignment error rates, and what the run has found in a sentence."""
    input:
        package=REPLICATION_PACKAGE,
        scores=SCORED,
        comparison="results/comparison.json",
    output:
        files=[shown_in_report(file, "Tables") for file in LISTED.table_files],
        made_with=f"results/{TABLES_MADE}",
    log:
        "logs/results/tables.log",
    localrule: True
    script:
        "../scripts/build.py"


use rule tables as figures with:
    output:
        files=[shown_in_report(file, "Figures") for file in LISTED.figure_files],
    log:
        "logs/results/figures.log",
    localrule: True


if LISTED.corpora:

    use rule tables as data_report with:
        input:
            counts=RESULTS.counts,
            papers=[RESULTS.paper(paper) for paper in PAPERS],
            settings=str(RESULTS.configuration),
        output:
            files=[shown_in_report(file, "Text") for file in LISTED.data_files],
        log:
            "logs/results/data.log",
        localrule: True


if CONFIG.sentence_vectors:

    rule vectors:
        """Encode the sentences of a figure, and project them into a plane (Sutskever et al., 2014, Fig. 2)."""
        input:
            settings=SETTINGS.add("vectors", {"panels": CONFIG.sentence_vectors.panels}),
            model=model_files,
        output:
            coordinates="vectors/{model}.tsv",
        log:
            "logs/vectors/{model}.log",
        threads: MODEL_CORES
        resources:
            **WITH_MODELS,
        params:
            model=lambda wildcards: f"{MODELS}/{wildcards.model}",
            # a function, or Snakemake would take braces in it for wildcards
            lines=lambda wildcards: "\n\n".join(map("\n".join, CONFIG.sentence_vectors.panels)),
            options=lambda wildcards, input: MODEL_OPTIONS,
        shell:
            "nmt vectors --tokenized --model {params.model:q} {params.options} --output-tsv {output.coordinates:q}"
            " <<< {params.lines:q} 2>&1 | tee -i {log:q}"


# Figure 6 of Cho et al. (2014b) is drawn from the model itself.
TREE_FILES = [
    f"results/{TREE}.{form}"
    for form in ("pdf", "svg", "png")
    if CONFIG.artifacts.tree_model and any(TREE in paper.figures for paper in PAPERS.values())
]

if TREE_FILES:

    rule tree:
        """Figure 6 of Cho et al. (2014b): the tree that a grConv makes of a sentence, and its ten best translations."""
        input:
            settings=SETTINGS.add("tree", {"sentence": CONFIG.artifacts.tree_sentence}),
            text=f"{MODELS}/{CONFIG.artifacts.tree_model}/text.json",
            model=model_files_of([CONFIG.artifacts.tree_model]),
        output:
            [shown_in_report(os.path.basename(file), "Figures") for file in TREE_FILES],
        log:
            "logs/results/tree.log",
        localrule: True
        params:
            model=lambda wildcards, input: os.path.dirname(input.text),
            # a function, or Snakemake would take braces in it for wildcards
            sentence=lambda wildcards: CONFIG.artifacts.tree_sentence,
            outputs=lambda wildcards, output: options.known(("output", file) for file in output),
        shell:
            "nmt tree {params.sentence:q} --model {params.model:q} {params.outputs} 2>&1 | tee -i {log:q}"


# --- pages ------------------------------------------------------------------------------------------------------------

PLAYGROUND = ["results/playground.html"] if PLAYGROUND_MODELS else []

# What a run is for, and what the page of the run shows of it, in its order.
ARTIFACTS = [
    *(f"results/{name}" for name in [*LISTED.table_files, COMPARISON, *LISTED.figure_files]),
    *TREE_FILES,
    *DATA_REPORT,
    "results/report.html",
    *PLAYGROUND,
]
SHOWN_IN_PAGE = [
    file for file in ARTIFACTS if file.endswith((".txt", ".md", ".png", ".json")) and COMPARISON not in file
]


if PLAYGROUND:

    rule playground:
        """A page in which models translate what one types, in one file."""
        input:
            settings="settings/text.json",
            models=model_files_of(PLAYGROUND_MODELS),
            source=test_tokens(SOURCE),
            reference=test_tokens(TARGET),
        output:
            page=shown_in_report("playground.html", "Translations"),
        log:
            "logs/results/playground.log",
        localrule: True
        params:
            models=[f"{MODELS}/{model}" for model in PLAYGROUND_MODELS],
            size=CONFIG.playground.model_dump(include={"megabytes", "bits"}),
            title=lambda wildcards: f"Translate in the browser: {EXPERIMENT}",
        script:
            "../scripts/playground.py"


rule report:
    """One page with the finding, figures, tables, settings and versions of the run, without Snakemake's report."""
    input:
        settings=SETTINGS.add("page", get_page_settings(CONFIG)),
        artifacts=SHOWN_IN_PAGE,
    output:
        page="results/report.html",
    log:
        "logs/results/report.log",
    localrule: True
    params:
        title=lambda wildcards: f"Neural machine translation: {EXPERIMENT}",
        papers=[paper.name for paper in PAPERS.values()],
        beside=[os.path.basename(page) for page in PLAYGROUND],
        captions=str(WORKFLOW / "captions.yaml"),
        several=any(len(get_seeds(CONFIG, model)) > 1 for model in CONFIG.use.models),
    script:
        "../scripts/pages.py"


# --- what is published ------------------------------------------------------------------------------------------------


rule ro_crate:
    """Record where the results come from, last of all: code, settings, text, models, and the checksum of every file."""
    input:
        ARTIFACTS,
        REPLICATION_PACKAGE,
        MADE_WITH,
        f"results/{TABLES_MADE}",
    output:
        # the record of the former run is kept until this one is written, since it names that run's files
        update("results/ro-crate-metadata.json"),
    log:
        "logs/results/ro_crate.log",
    localrule: True
    params:
        archives=f"{DATA}/archives",
    script:
        "../scripts/ro_crate.py"


rule model_card:
    """Write a model's card once there are scores."""
    input:
        summary="models/{model}/summary.json",
        settings="models/{model}/settings.json",
        scores="scores/test/{model}.json",
    output:
        card="models/{model}/README.md",
    log:
        "logs/results/{model}.card.log",
    localrule: True
    params:
        text={"languages": (SOURCE, TARGET), **CONFIG.use.model_dump(include={"train", "dev", "test"})},
    script:
        "../scripts/model_card.py"


rule release:
    """Pack a model for others."""
    input:
        model=[f"models/{{model}}/{name}" for name in (*RELEASED_FILES, TEXT_SETTINGS)],
    output:
        archive="releases/{model}.tar.zst",
    log:
        "logs/results/{model}.release.log",
    resources:
        mem_mb=2000,
        runtime=60,
    params:
        bits=options.option("bits", CONFIG.release.bits),
    shell:
        "nmt model release --model models/{wildcards.model} {params.bits} --output {output.archive:q} 2>&1 | tee -i {log:q}"


# --- a run in pieces --------------------------------------------------------------------------------------------------


rule pack_run:
    """Pack what the results need of a run, without weights: workflow/pieces.py joins runs of several machines."""
    input:
        files=lambda wildcards: files_of_run(wildcards.model, ORIGINALS, len(TRANSLATED)),
    output:
        archive="pieces/{model}.tar",
    log:
        "logs/results/{model}.pack.log",
    wildcard_constraints:
        model=options.any_of(RUNS_IN_USE),
    localrule: True
    shell:
        "tar --dereference -cf {output.archive:q} {input.files:q} 2> {log:q}"
