"""What makes results worth publishing: the replication package, the RO-Crate, model cards, archives of models."""

RELEASE_FILES = (*RELEASED, TEXT)

TRAINED_HERE = [] if KEPT or CONFIG.released.models else [run for run in USED if run not in SHARED]

# What is kept beside the results, so that they can be made again: files, each with its copy.
KEPT_TRANSLATIONS, KEPT_WITH_ATTENTION = (
    [
        (translated(system, mode, set_), RESULTS.translations(system, mode, set_))
        for set_ in SETS
        for system in COMPARED
        for mode in MODES
        if (set_ == "test" and system == CONFIG.artifacts.figure3_model) == attention
    ]
    for attention in (False, True)
)
KEPT_LINES = [
    *((test_tokens(language), RESULTS.test(language)) for language in (SOURCE, TARGET)),
    *((set_tokens("dev", language), RESULTS.dev(language)) for language in (SOURCE, TARGET) if "dev" in SETS),
    *([(raw_reference(), RESULTS.raw_reference(TARGET))] if raw_reference() else []),
    *((file, RESULTS.given(system, set_)) for set_ in GIVEN for system, file in GIVEN[set_].items()),
    *([(vocabulary(RANKED), RESULTS.vocabulary(RANKED))] if "score_groups" in FIGURES else []),
    *([(gold_alignments(), RESULTS.gold)] if gold_alignments() else []),
    *((aligned(run), RESULTS.alignments(run)) for run in measured_runs()),
]
KEPT_FILES = [
    *(
        (file, RESULTS.of_run(run, name))
        for name in RECORDS
        for run in USED
        for file in run_files([run], name)
    ),
    *((file, RESULTS.perplexity(system)) for system, file in perplexities().items()),
    *((file, RESULTS.paper(paper)) for paper, file in PAPER_FILES.items()),
]

TRANSLATED = KEPT_TRANSLATIONS + KEPT_WITH_ATTENTION
REPLICATION_PACKAGE = [
    *copies(TRANSLATED + KEPT_LINES + KEPT_FILES),
    *sidecars(copies(TRANSLATED)),
    str(RESULTS.configuration),
]

# What is made last in the folders of the models that this run trains.
COMPLETED = expand("models/{run}/{name}", run=TRAINED_HERE, name=["text.json", "README.md"])


rule package_results:
    """Write the replication package: translations, test text, summaries and settings, of which tables can be made again."""
    input:
        translations=originals(KEPT_TRANSLATIONS),
        attention=originals(KEPT_WITH_ATTENTION),
        making=sidecars(originals(TRANSLATED)),
        lines=originals(KEPT_LINES),
        files=originals(KEPT_FILES),
    output:
        translations=copies(KEPT_TRANSLATIONS),
        attention=copies(KEPT_WITH_ATTENTION),
        making=sidecars(copies(TRANSLATED)),
        lines=copies(KEPT_LINES),
        files=copies(KEPT_FILES),
        configuration=RESULTS.configuration,
    log:
        "logs/publish/package_results.log",
    localrule: True
    resources:
        mem_mb=2000,
        runtime=30,
    params:
        configuration=lambda wildcards: projections.as_json(published(CONFIG)),
        translations=lambda wildcards, input, output: options.paired(
            "translations", input.translations, output.translations
        ),
        attention=lambda wildcards, input, output: options.paired(
            "attention", input.attention, output.attention
        ),
        lines=lambda wildcards, input, output: options.paired("lines", input.lines, output.lines),
        files=lambda wildcards, input, output: options.paired("file", input.files, output.files),
    shell:
        "nmt results package {params.translations} {params.attention} {params.lines} {params.files}"
        " --configuration {params.configuration:q} --output results 2>&1 | tee -i {log:q}"


rule ro_crate:
    """Record where the results come from, last of all: code, settings, text, models, and the checksum of every file."""
    input:
        files=[*ARTIFACTS, "results/comparison.json", *REPLICATION_PACKAGE],
    output:
        record="results/ro-crate-metadata.json",
    log:
        "logs/publish/ro_crate.log",
    resources:
        mem_mb=2000,
        runtime=60,
    params:
        files=lambda wildcards, input: options.repeated("file", input.files),
        archives=f"{DATA}/archives",
    shell:
        "nmt results ro-crate results {params.files} --archives {params.archives:q} 2>&1 | tee -i {log:q}"


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
    localrule: True
    resources:
        mem_mb=2000,
        runtime=30,
    params:
        text=options.text_of_card(CONFIG),
    shell:
        "nmt model card --model models/{wildcards.model} --scores {input.scores:q} {params.text} 2>&1 | tee -i {log:q}"


rule release:
    """Pack a model for others."""
    input:
        model=[f"models/{{model}}/{name}" for name in RELEASE_FILES],
    output:
        archive="releases/{model}.tar.zst",
    log:
        "logs/publish/{model}.release.log",
    resources:
        mem_mb=2000,
        runtime=60,
    params:
        bits=options.release_bits(CONFIG),
    shell:
        "nmt model release --model models/{wildcards.model} {params.bits} --output {output.archive:q} 2>&1 | tee -i {log:q}"
