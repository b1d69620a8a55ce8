"""Copy the inputs of tables and figures into the replication package, and check that they are of its settings."""

from job import job

with job(snakemake) as (inputs, outputs):
    from pathlib import Path

    from nmt.errors import UserError
    from nmt.io.files import read_json
    from pipeline.results.inputs import Inputs
    from pipeline.results.package import ReplicationPackage, copy_into_package
    from pipeline.results.papers import PAPERS_FOLDER
    from pipeline.results.provenance import check_provenance

    if read_json(inputs.written_settings) != inputs.settings:
        raise UserError(f"{inputs.written_settings}: of other settings; remove it, and call again")
    for source, copy in zip(inputs.files, outputs.files, strict=True):
        copy_into_package(source, copy, attention=str(source) in snakemake.params.attention)
    check_provenance(Inputs(ReplicationPackage(Path("results")), PAPERS_FOLDER))
