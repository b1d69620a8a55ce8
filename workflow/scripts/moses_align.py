"""Align words in both directions, and make one alignment of both."""

from job import job

with job(snakemake):
    from pathlib import Path

    from pipeline.phrase_based.alignment import align
    from pipeline.phrase_based.programs import Moses

    text = Path(snakemake.input.source), Path(snakemake.input.target)
    moses = Moses.of(snakemake.input.programs)
    pairs = align(moses, *text, Path(snakemake.output.aligned), **snakemake.params.settings)
    print(f"{pairs:,} pairs")
