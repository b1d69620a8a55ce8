"""List the files of the replication package, the inputs of tables and figures.

In:  the settings, the plan of runs and systems.
Out: OUTPUTS, PERPLEXITY_SYSTEMS, PACKAGE_FILES and REPLICATION_PACKAGE, with what the package needs.
"""

# The tables and figures that the papers have, and the runs whose attention they need.
OUTPUTS = list_outputs(CONFIG, list(PAPERS.values()))

# The systems whose perplexity on the test set a table shows.
PERPLEXITY_SYSTEMS = []
if any(table.kind == "perplexity" for table in PAPER_TABLES):
    PERPLEXITY_SYSTEMS = select_distinct_systems(plan.systems[system] for system in plan.selected_systems)


def list_package_files():
    """Return the files that are copied into the replication package, each with its copy.

    Translations of runs are not among them, see `TRANSLATIONS`.
    """
    files = []
    for set_name in SETS:
        for language in (SOURCE, TARGET):
            files.append((paths.evaluation_file(set_name, language), RESULTS.text(set_name, language)))
        for system in plan.text_only_systems[set_name]:
            copy = RESULTS.plain_text_translations(set_name, system)
            files.append((paths.plain_text_translations(set_name, system), copy))

    # the test set's references and alignments, if there are any
    files += [(file, RESULTS.raw_reference(TARGET)) for file in paths.list_raw_references()]
    files += [(file, RESULTS.gold_alignments) for file in paths.list_gold_alignments()]

    # vocabularies, and checksums of the training text
    files += [
        (paths.vocabulary_file(language), RESULTS.vocabulary(language)) for language in (SOURCE, TARGET)
    ]
    if plan.trained_runs:
        for split in ("train", "dev"):
            files.append((FOLDER.bitext(split) / "meta.json", RESULTS.bitext_meta(split)))

    # what trainings wrote, alignments and perplexity of each run
    for run in plan.selected_runs:
        files += [
            (f"{plan.models_folder}/{run}/{name}", RESULTS.run_file(run, name)) for name in RECORD_FILES
        ]
    files += [(f"alignments/{run}.jsonl", RESULTS.alignments(run)) for run in OUTPUTS.aligned_runs]
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

REPLICATION_PACKAGE = [*PACKAGE_FILES.values(), str(RESULTS.configuration)]
if OUTPUTS.has_corpora:
    REPLICATION_PACKAGE.append(str(RESULTS.corpus_counts))

# The package keeps the attention of these translations alone, for Figure 3.
FIGURE3_MODEL = CONFIG.artifacts.figure3_model
ATTENTION_FILES = []
if FIGURE3_MODEL:
    ATTENTION_FILES = [str(FOLDER.translations("test", FIGURE3_MODEL, mode)) for mode in MODES]


def list_package_sources(run):
    """Return the files that a run adds to the package: translations, files of its training, attention, perplexity."""
    translations = [str(FOLDER.translations(set_name, run, mode)) for set_name in SETS for mode in MODES]
    files = translations + paths.provenance_files(translations)
    files += [f"{paths.model_folder(run)}/{name}" for name in RECORD_FILES]
    if run in OUTPUTS.aligned_runs:
        files.append(f"alignments/{run}.jsonl")
    if run in PERPLEXITY_SYSTEMS:
        files.append(f"perplexity/{run}.json")
    return files
