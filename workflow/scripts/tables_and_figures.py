"""Make tables or figures from the replication package: the files that the rule lists."""

from job import job

with job(snakemake) as (inputs, outputs):
    from pathlib import Path

    from nmt.io.files import write_json
    from nmt.io.system import describe_environment
    from pipeline.results.inputs import Inputs
    from pipeline.results.tables_and_figures import write_tables_and_figures

    results = Path("results")
    comparison = getattr(inputs, "comparison", None)  # absent in the rules that run before it is made
    package_inputs = Inputs(results, Path("scores"), comparison)
    names = [file.relative_to(results).as_posix() for file in outputs.files]
    write_tables_and_figures(package_inputs, results, names)
    if "provenance" in vars(outputs):
        write_json(outputs.provenance, describe_environment())
