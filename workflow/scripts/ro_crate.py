"""Record where the results come from, and remove what only a former run has made."""

from job import job

with job(snakemake):
    from pathlib import Path

    from nmt.io.files import read_json, write_json
    from pipeline.results.ro_crate import remove_former_files, write_crate

    results, planned_results = Path("results"), Path(snakemake.params.planned_results)
    files = [Path(file) for file in snakemake.input]
    # a workflow that imports the rules plans no files
    planned_names = read_json(planned_results) if planned_results.is_file() else []
    for file in remove_former_files(results, files, planned_names):
        print(f"{file}: removed: only a former run had it")
    write_crate(results, files, Path(snakemake.params.archives))
    write_json(planned_results, [*snakemake.input, snakemake.output[0]])
