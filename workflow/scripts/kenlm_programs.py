"""Provide KenLM's programs: links to those on the path, or built from the pinned source archive."""

from job import job

with job(snakemake):
    from pathlib import Path

    from pipeline.kenlm import provide

    folder = Path(snakemake.params.folder)
    print(f"{folder}: lmplz, build_binary and query from {provide(folder, snakemake.threads)}")
