"""Record where the results come from, and remove results that only a former run has made."""

from job import job

with job(snakemake):
    from pathlib import Path

    from nmt.io.files import read_json, write_json
    from pipeline.results.ro_crate import remove_former_files, write_crate

    results = Path("results")
    files = [Path(file) for file in snakemake.input]

    # 1. remove files of former runs; the list of planned files is missing if another workflow imports the rules
    plan_file = Path(snakemake.params.planned_results_file)
    planned_names = read_json(plan_file) if plan_file.is_file() else []
    for file in remove_former_files(results, files, planned_names):
        print(f"{file}: removed: only a former run had it")

    # 2. write the record
    write_crate(results, files, Path(snakemake.params.archive_folder))
    write_json(plan_file, [*snakemake.input, snakemake.output[0]])
