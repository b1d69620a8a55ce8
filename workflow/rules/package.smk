"""Collect the replication package (package_files.smk), the inputs of tables and figures.

In:  translations, their provenance, text, vocabularies, what trainings wrote, settings.
Out: in results/ the files of the package.
"""

PUBLISHED_SETTINGS = get_published_settings(CONFIG)


rule package_results:
    """Copy the files of the replication package, and check that they were made with the settings that are published."""
    input:
        written_settings=str(RESULTS.configuration),
        files=list(PACKAGE_FILES),
        provenance=paths.provenance_files(TRANSLATIONS),
    output:
        files=list(PACKAGE_FILES.values()),
        provenance=paths.provenance_files(TRANSLATIONS.values()),
    log:
        "logs/results/package.log",
    localrule: True
    params:
        settings=PUBLISHED_SETTINGS,
        files_with_attention=ATTENTION_FILES,
        rerun_if_files_change=jobs.user_file_stamps,
        rerun_if_models_change=jobs.pretrained_model_stamps,
    script:
        "../scripts/package.py"


rule package_corpora:
    """Copy the counts of the corpora into the replication package. They exist before there are models."""
    input:
        counts=f"{DATA}/corpora.json",
    output:
        counts=str(RESULTS.corpus_counts),
    log:
        "logs/results/corpora.log",
    localrule: True
    # Without sync, a power cut could leave an empty file, which Snakemake would take for complete.
    shell:
        "(cp {input.counts:q} {output.counts:q} && sync {output.counts:q}) 2> {log:q}"


rule package_settings:
    """Write the run's settings into the replication package."""
    output:
        settings=str(RESULTS.configuration),
    log:
        "logs/results/settings.log",
    localrule: True
    params:
        settings=PUBLISHED_SETTINGS,
    script:
        "../scripts/package_settings.py"
