"""Provide Moses: links to an installation on the path, or a build of the pinned source."""

from job import job

with job(snakemake):
    from pathlib import Path

    from pipeline.phrase_based.programs import provide

    source = Path(snakemake.input.source) if snakemake.input.source else None
    folder = Path(snakemake.output.programs).parents[1]
    print(f"{folder}: Moses from {provide(folder, source, snakemake.threads)}")
