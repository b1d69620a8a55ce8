"""Fetch one archive, whole or not at all."""

import sys

from job import job

with job(snakemake):
    from pathlib import Path

    from pipeline.config.catalogue import Archive
    from pipeline.download.download import download

    archive, output = Archive.model_validate(snakemake.params.archive), Path(snakemake.output.archive)
    source = download(archive, output, snakemake.params.mirrors, archive.alternatives)
    print(f"{output}: from {source}", file=sys.stderr)
