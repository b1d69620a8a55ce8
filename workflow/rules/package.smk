"""Collect the replication package, of which tables and figures are made.

In:  translations, their provenance, text, vocabularies, what trainings wrote, settings.
Out: OUTPUTS, REPLICATION_PACKAGE; in results/ the files of the package.
"""

# The tables and figures that the papers have, and the runs whose attention they need.
OUTPUTS = list_outputs(CONFIG, list(PAPERS.values()))
PERPLEXITY_SYSTEMS = list_perplexity_systems()


def list_package_files():
    """Return the files that the package copies, except translations, with their copies."""
    files = []
    for set_name in SETS:
        for language in (SOURCE, TARGET):
            files.append((set_file(set_name, language), RESULTS.text(set_name, language)))
        for system in plan.other_systems[set_name]:
            copy = RESULTS.other_translations(set_name, system)
            files.append((other_translations(set_name, system), copy))

    # the test set's references and alignments, if there are any; vocabularies and checksums of the training text
    files += [(file, RESULTS.raw_reference(TARGET)) for file in raw_reference()]
    files += [(file, RESULTS.gold) for file in gold_alignments()]
    files += [(vocabulary_file(language), RESULTS.vocabulary(language)) for language in (SOURCE, TARGET)]
    if plan.trained_here:
        for split in ("train", "dev"):
            files.append((FOLDER.bitext(split) / "meta.json", RESULTS.text_checksums(split)))

    # what models wrote
    for run in plan.selected_runs:
        files += [
            (f"{plan.models_folder}/{run}/{name}", RESULTS.run_file(run, name)) for name in RECORD_FILES
        ]
    files += [(f"alignments/{run}.jsonl", RESULTS.alignments(run)) for run in OUTPUTS.aligned]
    files += [(f"perplexity/{system}.json", RESULTS.perplexity(system)) for system in PERPLEXITY_SYSTEMS]
    if CONFIG.sentence_vectors:
        files.append((f"vectors/{CONFIG.sentence_vectors.model}.tsv", RESULTS.vectors))
    return {str(file): str(copy) for file, copy in files}


# Each file with its copy in the package.
TRANSLATIONS = {
    str(FOLDER.translations(set_name, system, mode)): str(RESULTS.translations(set_name, system, mode))
    for set_name in SETS
    for system in plan.selected_systems
    for mode in MODES
}
PACKAGE_FILES = TRANSLATIONS | list_package_files()

# What the table of the corpora is made of, before there are models.
CORPORA_FILES = {file: str(RESULTS.paper(paper)) for paper, file in PAPER_FILES.items()}
if OUTPUTS.corpora:
    CORPORA_FILES[f"{DATA}/corpora.json"] = str(RESULTS.counts)

REPLICATION_PACKAGE = [*PACKAGE_FILES.values(), *CORPORA_FILES.values(), str(RESULTS.configuration)]
# The translations of which the package keeps the attention, for Figure 3.
FIGURE3_MODEL = CONFIG.artifacts.figure3_model
ATTENTION_FILES = []
if FIGURE3_MODEL:
    ATTENTION_FILES = [str(FOLDER.translations("test", FIGURE3_MODEL, mode)) for mode in MODES]

PUBLISHED_SETTINGS = SETTINGS.add("results", get_published_settings(CONFIG))


rule package_results:
    """Copy the files of the replication package, and check that all of them are of the run's settings."""
    input:
        settings=PUBLISHED_SETTINGS,
        written_settings=str(RESULTS.configuration),
        files=list(PACKAGE_FILES),
        provenance=provenance_files(TRANSLATIONS),
    output:
        files=list(PACKAGE_FILES.values()),
        provenance=provenance_files(TRANSLATIONS.values()),
    log:
        "logs/results/package.log",
    localrule: True
    params:
        attention=ATTENTION_FILES,
    script:
        "../scripts/package.py"


rule package_corpora:
    """Copy what the table of the corpora is made of into the replication package."""
    input:
        files=list(CORPORA_FILES),
    output:
        files=list(CORPORA_FILES.values()),
    log:
        "logs/results/corpora.log",
    localrule: True
    script:
        "../scripts/package_corpora.py"


rule package_settings:
    """Write the run's settings into the replication package."""
    input:
        settings=PUBLISHED_SETTINGS,
    output:
        settings=str(RESULTS.configuration),
    log:
        "logs/results/settings.log",
    localrule: True
    shell:
        "cp {input.settings:q} {output.settings:q} 2> {log:q}"
