"""Record where the results come from, and remove results that only a former run has made."""

from job import job

with job(snakemake):
    from pathlib import Path

    from nmt.io.files import read_json, write_json
    from pipeline.results.ro_crate import write_crate

    # 1. remove files that only former runs planned, and no others, which the user may have added. The list of planned
    # files is missing if another workflow imports the rules
    plan_file = Path(snakemake.params.planned_results_file)
    planned_names = read_json(plan_file) if plan_file.is_file() else []
    for name in sorted(set(planned_names).difference(snakemake.input)):
        if Path(name).is_file():
            Path(name).unlink()
            print(f"{name}: removed: only a former run had it")

    # 2. write the record
    files = [Path(file) for file in snakemake.input]
    write_crate(Path("results"), files, Path(snakemake.params.archive_folder))
    write_json(plan_file, [*snakemake.input, snakemake.output[0]])
