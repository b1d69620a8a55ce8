"""Write the settings of a run into the replication package."""

from job import job

with job(snakemake) as (_, outputs):
    from nmt.io.files import write_json

    write_json(outputs.settings, snakemake.params.settings)
