"""Copy the inputs of the table of the corpora into the replication package."""

from job import job

with job(snakemake) as (inputs, outputs):
    from pipeline.results.package import copy_into_package

    for source, copy in zip(inputs.files, outputs.files, strict=True):
        copy_into_package(source, copy)
