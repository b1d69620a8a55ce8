"""What makes results worth publishing: the replication package, the RO-Crate, model cards, archives of models."""


localrules:
    package_results,
    model_card,


RELEASE_FILES = (*NEEDED, "text.json")

# What is kept beside the results, so that they can be made again: translations with what made them, attention, what
# training left of each run, and the text.
TRAINED_HERE = [] if KEPT or CONFIG.released.models else [run for run in USED if run not in SHARED]
KEPT_TRANSLATIONS = [
    str(RESULTS.translations(system, mode, set_)) for set_ in SETS for system in COMPARED for mode in MODES
]
KEPT_MAKING = [str(beside(Path(file))) for file in KEPT_TRANSLATIONS]
KEPT_ALIGNMENTS = [str(RESULTS.alignments(run)) for run in measured_runs()]
KEPT_RUN_FILES = [str(RESULTS.of_run(run, name)) for run in USED for name in RUN_FILES]
KEPT_PERPLEXITIES = [str(RESULTS.perplexity(system)) for system in COMPARED if perplexities()]
KEPT_PAPERS = [str(RESULTS.paper(paper)) for paper in PAPERS]
KEPT_TEXT = [
    *(str(RESULTS.test(language)) for language in (SOURCE, TARGET)),
    *(str(RESULTS.dev(language)) for language in (SOURCE, TARGET) if "dev" in SETS),
    *([str(RESULTS.raw_reference(TARGET))] if raw_reference() else []),
    *(str(RESULTS.given(system, set_)) for set_ in GIVEN for system in GIVEN[set_]),
    *([str(RESULTS.vocabulary(RANKED))] if "score_groups" in FIGURES else []),
    *([str(RESULTS.gold)] if gold_alignments() else []),
]
REPLICATION_PACKAGE = [
    *KEPT_TRANSLATIONS,
    *KEPT_MAKING,
    *KEPT_ALIGNMENTS,
    *KEPT_RUN_FILES,
    *KEPT_TEXT,
    str(RESULTS.configuration),
    *KEPT_PERPLEXITIES,
    *KEPT_PAPERS,
]

# What is made last in the folders of the models that this run trains.
COMPLETED = expand("models/{run}/{name}", run=TRAINED_HERE, name=["text.json", "README.md"])


rule package_results:
    """Write the replication package: translations, test text, summaries and settings, of which tables can be made again."""
    input:
        translations=translations_of(COMPARED),
        making=making_of(COMPARED),
        files=[run_files(USED, name) for name in RUN_FILES],
        source=test_tokens(SOURCE),
        reference=test_tokens(TARGET),
        raw_reference=[raw_reference()] if raw_reference() else [],
        given=list(GIVEN.get("test", {}).values()),
        dev_translations=translations_of(COMPARED, "dev") if "dev" in SETS else [],
        dev_making=making_of(COMPARED, "dev") if "dev" in SETS else [],
        dev_text=[set_tokens("dev", language) for language in (SOURCE, TARGET) if "dev" in SETS],
        dev_given=list(GIVEN.get("dev", {}).values()),
        vocabulary=[vocabulary(RANKED)] if "score_groups" in FIGURES else [],
        gold=[gold_alignments()] if gold_alignments() else [],
        alignments=[aligned(run) for run in measured_runs()],
        perplexities=perplexities(),
        papers=list(PAPER_FILES.values()),
    output:
        translations=KEPT_TRANSLATIONS,
        making=KEPT_MAKING,
        alignments=KEPT_ALIGNMENTS,
        files=KEPT_RUN_FILES,
        text=KEPT_TEXT,
        configuration=RESULTS.configuration,
        perplexities=KEPT_PERPLEXITIES,
        papers=KEPT_PAPERS,
    log:
        "logs/publish/package_results.log",
    benchmark:
        "benchmarks/publish/package_results.tsv"
    conda:
        "../../envs/report.yaml"
    resources:
        mem_mb=2000,
        runtime=30,
    params:
        configuration=lambda wildcards: projections.as_json(published(CONFIG)),
        runs=lambda wildcards, input: options.kept(
            CONFIG, input.translations, [run_files(USED, name) for name in RUN_FILES]
        ),
        raw_reference=lambda wildcards, input: options.repeated("raw-reference", input.raw_reference),
        given=lambda wildcards, input: options.paired("given", GIVEN.get("test", {}), input.given),
        vocabulary=lambda wildcards, input: (
            options.paired("vocabulary", [RANKED], input.vocabulary) if input.vocabulary else ""
        ),
        gold=lambda wildcards, input: options.repeated("gold", input.gold),
        alignments=lambda wildcards, input: options.paired("alignments", measured_runs(), input.alignments),
        dev=lambda wildcards, input: options.kept_dev(
            CONFIG, input.dev_translations, input.dev_text, input.dev_given
        ),
        perplexities=lambda wildcards, input: options.paired(
            "perplexity", COMPARED if input.perplexities else [], input.perplexities
        ),
        papers=lambda wildcards, input: options.repeated("paper", input.papers),
        attention=f"--attention {CONFIG.artifacts.figure3_model}" if CONFIG.artifacts.figure3_model else "",
    shell:
        "nmt package-results {params.runs} --test {input.source:q} {input.reference:q} {params.attention}"
        " {params.raw_reference} {params.given} {params.gold} {params.alignments} {params.dev} {params.vocabulary} {params.perplexities} {params.papers} --configuration {params.configuration:q} --output results 2>&1 | tee -i {log:q}"


rule ro_crate:
    """Record where the results come from, last of all: code, settings, text, models, and the checksum of every file."""
    input:
        files=[*ARTIFACTS, "results/comparison.json", *REPLICATION_PACKAGE],
    output:
        record="results/ro-crate-metadata.json",
    log:
        "logs/publish/ro_crate.log",
    benchmark:
        "benchmarks/publish/ro_crate.tsv"
    conda:
        "../../envs/report.yaml"
    resources:
        mem_mb=2000,
        runtime=60,
    params:
        # of the sweep, which the page shows where it was made, as it was when this run began
        files=lambda wildcards, input: options.repeated("file", [*input.files, *SWEEP_MADE]),
        archives=f"{DATA}/archives",
    shell:
        "nmt ro-crate results {params.files} --archives {params.archives:q} 2>&1 | tee -i {log:q}"


rule model_card:
    """Write a model's card once there are scores."""
    input:
        summary="models/{model}/summary.json",
        settings="models/{model}/settings.json",
        scores="scores/{model}.json",
    output:
        card="models/{model}/README.md",
    log:
        "logs/publish/{model}.card.log",
    benchmark:
        "benchmarks/publish/{model}.card.tsv"
    conda:
        "../../envs/report.yaml"
    resources:
        mem_mb=2000,
        runtime=30,
    params:
        text=options.text_of_card(CONFIG),
    shell:
        "nmt model-card --model models/{wildcards.model} --scores {input.scores:q} {params.text} 2>&1 | tee -i {log:q}"


rule release:
    """Pack a model for others."""
    input:
        model=[f"models/{{model}}/{name}" for name in RELEASE_FILES],
    output:
        archive="releases/{model}.tar.zst",
    log:
        "logs/publish/{model}.release.log",
    benchmark:
        "benchmarks/publish/{model}.release.tsv"
    conda:
        "../../envs/report.yaml"
    resources:
        mem_mb=2000,
        runtime=60,
    shell:
        "nmt release --model models/{wildcards.model} --output {output.archive:q} 2>&1 | tee -i {log:q}"
