"""Collect the replication package (package_files.smk), the inputs of tables and figures.

In:  translations, their provenance, text, vocabularies, what trainings wrote, settings.
Out: in results/ the files of the package.
"""

PUBLISHED_SETTINGS = SETTINGS_FILES.add("results", get_published_settings(CONFIG))


rule package_results:
    """Copy the files of the replication package, and check that all of them were made with the run's settings."""
    input:
        settings=PUBLISHED_SETTINGS,
        written_settings=str(RESULTS.configuration),
        files=list(PACKAGE_FILES),
        file_stamps=FILE_STAMPS,
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
    # Without sync, a power cut could leave an empty file, which Snakemake would take for complete.
    shell:
        "(cp {input.settings:q} {output.settings:q} && sync {output.settings:q}) 2> {log:q}"
