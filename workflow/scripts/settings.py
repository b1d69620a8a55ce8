"""Write the run's settings beside its results."""

import json

from job import job

with job(snakemake):
    from nmt.io.files import write_json

    write_json(snakemake.output.settings, json.loads(snakemake.params.settings))
