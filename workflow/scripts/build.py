"""Make tables or figures from the replication package: the files that the rule lists."""

from job import job

with job(snakemake):
    from pathlib import Path

    from pipeline.results.build import build
    from pipeline.results.inputs import Inputs
    from pipeline.results.package import ReplicationPackage

    results = Path("results")
    comparison = snakemake.input.get("comparison")
    measured = Path("scores"), comparison and Path(comparison)
    only = [Path(file).relative_to(results).as_posix() for file in snakemake.output]
    build(Inputs(ReplicationPackage(results), results / "papers", *measured), results, only)
