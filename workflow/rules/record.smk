"""Record the results when all of them exist, and pack single runs for a run in pieces.

In:  RESULT_FILES (pages.smk), REPLICATION_PACKAGE (package_files.smk).
Out: results/ro-crate-metadata.json, pieces/RUN.tar.zst.
"""


rule ro_crate:
    """Record the origin of the results: code, settings, text, models, and the checksum of every file."""
    input:
        RESULT_FILES,
        REPLICATION_PACKAGE,
        paths.provenance_files(TRANSLATIONS.values()),
        f"results/{TABLES_PROVENANCE}",
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


# --- a run in pieces --------------------------------------------------------------------------------------------------


rule pack_run:
    """Pack the files of a run that the results need, without weights: workflow/pieces.py joins runs of several machines."""
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
        attention=ATTENTION_FILES,
    script:
        "../scripts/pack_run.py"
