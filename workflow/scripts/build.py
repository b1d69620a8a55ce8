"""Make tables or figures from the replication package: the files that the rule lists."""

from job import job

with job(snakemake):
    from pathlib import Path

    from nmt.io.files import write_json
    from nmt.io.system import describe_environment
    from pipeline.results.build import build
    from pipeline.results.inputs import Inputs
    from pipeline.results.package import ReplicationPackage

    results = Path("results")
    comparison = snakemake.input.get("comparison")
    measured = Path("scores"), comparison and Path(comparison)
    files = [Path(file).relative_to(results).as_posix() for file in snakemake.output.files]
    build(Inputs(ReplicationPackage(results), results / "papers", *measured), results, files)
    if provenance := snakemake.output.get("provenance"):
        write_json(provenance, describe_environment())
