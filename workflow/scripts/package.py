"""Copy the inputs of tables and figures into the replication package, and refuse what is not of its settings."""

from job import job

with job(snakemake):
    from pathlib import Path

    from nmt.errors import UserError
    from nmt.io.files import read_json
    from pipeline.results.inputs import Inputs
    from pipeline.results.package import ReplicationPackage, copy_into_package
    from pipeline.results.papers import PAPERS_FOLDER
    from pipeline.results.provenance import check_provenance

    written = snakemake.input.written_settings
    if read_json(written) != read_json(snakemake.input.settings):
        raise UserError(f"{written}: of other settings; remove it, and call again")
    for source, copy in zip(snakemake.input.files, snakemake.output.files, strict=True):
        copy_into_package(Path(source), Path(copy), attention=source in snakemake.params.attention)
    check_provenance(Inputs(ReplicationPackage(Path("results")), PAPERS_FOLDER))
