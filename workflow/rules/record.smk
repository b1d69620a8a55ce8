"""Record the results when all of them exist.

In:  RESULT_FILES (pages.smk), REPLICATION_PACKAGE (package_files.smk).
Out: results/ro-crate-metadata.json.
"""

RECORD = "results/ro-crate-metadata.json"
RECORDED_FILES = [
    *RESULT_FILES,
    *REPLICATION_PACKAGE,
    *paths.provenance_files(TRANSLATIONS.values()),
    f"results/{TABLES_PROVENANCE}",
]


rule ro_crate:
    """Record the origin of the results: code, settings, text, models, and the checksum of every file."""
    input:
        RECORDED_FILES,
    output:
        RECORD,
    log:
        "logs/results/ro_crate.log",
    localrule: True
    params:
        archive_folder=f"{DATA}/archives",
        planned_results_file=str(records.PLANNED_RESULTS),
    script:
        "../scripts/ro_crate.py"
