"""Fetch one archive, and check its size and checksums."""

import sys

from job import job

with job(snakemake) as (_, outputs):
    from pipeline.config.catalogue import Archive
    from pipeline.download.download import download_file

    params = snakemake.params
    archive = Archive.model_validate({**params.archive, **params.alternatives})
    source = download_file(archive, outputs.archive, params.mirrors)
    print(f"{outputs.archive}: from {source}", file=sys.stderr)
