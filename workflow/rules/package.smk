"""Collect the replication package, the inputs of tables and figures.

In:  translations, their provenance, text, vocabularies, what trainings wrote, settings.
Out: OUTPUTS, REPLICATION_PACKAGE; in results/ the files of the package.
"""

# The tables and figures that the papers have, and the runs whose attention they need.
OUTPUTS = list_outputs(CONFIG, list(PAPERS.values()))
PERPLEXITY_SYSTEMS = list_perplexity_systems()

# Each file with its copy in the package.
TRANSLATIONS = {
    str(FOLDER.translations(set_name, system, mode)): str(RESULTS.translations(set_name, system, mode))
    for set_name in SETS
    for system in plan.selected_systems
    for mode in MODES
}
PACKAGE_FILES = TRANSLATIONS | list_package_files()

# The inputs of the table of the corpora, which exist before there are models.
CORPORA_FILES = {file: str(RESULTS.paper(paper)) for paper, file in PAPER_FILES.items()}
if OUTPUTS.has_corpora:
    CORPORA_FILES[f"{DATA}/corpora.json"] = str(RESULTS.corpus_counts)

REPLICATION_PACKAGE = [*PACKAGE_FILES.values(), *CORPORA_FILES.values(), str(RESULTS.configuration)]

# The package keeps the attention of these translations alone, for Figure 3.
FIGURE3_MODEL = CONFIG.artifacts.figure3_model
ATTENTION_FILES = []
if FIGURE3_MODEL:
    ATTENTION_FILES = [str(FOLDER.translations("test", FIGURE3_MODEL, mode)) for mode in MODES]

PUBLISHED_SETTINGS = SETTINGS_FILES.add("results", get_published_settings(CONFIG))


rule package_results:
    """Copy the files of the replication package, and check that all of them were made with the run's settings."""
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
    """Copy the inputs of the table of the corpora into the replication package."""
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
