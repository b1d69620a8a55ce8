"""Record the results when all of them exist, and pack single runs for a run in pieces.

In:  RESULT_FILES (pages.smk), REPLICATION_PACKAGE (package_files.smk).
Out: results/ro-crate-metadata.json, pieces/RUN.tar.zst.
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


# --- a run in pieces --------------------------------------------------------------------------------------------------


rule pack_run:
    """Pack the files of a run that the results need, without weights. tools/pieces.py joins such archives."""
    input:
        files=lambda wildcards: list_package_sources(wildcards.run),
    output:
        archive="pieces/{run}.tar.zst",
    log:
        "logs/results/{run}.pack.log",
    wildcard_constraints:
        run=options.match_any(plan.selected_runs),
    localrule: True
    params:
        files_with_attention=ATTENTION_FILES,
    script:
        "../scripts/pack_run.py"
