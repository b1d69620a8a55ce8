"""Record where the results come from, and remove what only a former run has recorded."""

from job import job

with job(snakemake):
    from pathlib import Path

    from pipeline.results.ro_crate import remove_former_files, write_crate

    results = Path("results")
    files = [Path(file) for file in snakemake.input]
    for file in remove_former_files(results, files):
        print(f"{file}: removed: only a former run had it")
    write_crate(results, files, Path(snakemake.params.archives))
