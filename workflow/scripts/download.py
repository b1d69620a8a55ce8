"""Fetch one archive, whole or not at all."""

import sys

from job import job

with job(snakemake):
    from pathlib import Path

    from pipeline.config.catalogue import Archive
    from pipeline.download.download import download_file

    params, output = snakemake.params, Path(snakemake.output.archive)
    archive = Archive.model_validate({**params.archive, "alternatives": params.alternatives})
    source = download_file(archive, output, params.mirrors, archive.alternatives)
    print(f"{output}: from {source}", file=sys.stderr)
