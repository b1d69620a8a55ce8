"""Copy the inputs of tables and figures into the replication package, and check that its settings made them."""

from job import job

with job(snakemake) as (inputs, outputs):
    from pathlib import Path

    from nmt.errors import UserError
    from nmt.io.files import read_json
    from pipeline.results.inputs import Inputs
    from pipeline.results.package import copy_into_package
    from pipeline.results.provenance import find_contradictions

    if read_json(inputs.written_settings) != snakemake.params.settings:
        raise UserError(f"{inputs.written_settings}: made with different settings; remove it, and run again")
    for source, copy in zip(inputs.files, outputs.files, strict=True):
        has_attention = str(source) in snakemake.params.files_with_attention
        copy_into_package(source, copy, keep_attention=has_attention)
    problems = list(find_contradictions(Inputs(Path("results"))))
    if problems:
        raise UserError(*problems)
