"""Align words in both directions, and make one alignment of both."""

from job import job

with job(snakemake):
    from pathlib import Path

    from nmt.io.files import read_json
    from pipeline.phrase_based.alignment import align_text
    from pipeline.phrase_based.programs import Moses

    text = Path(snakemake.input.source), Path(snakemake.input.target)
    moses = Moses.from_build_file(snakemake.input.programs)
    settings = read_json(snakemake.input.settings)
    pairs = align_text(moses, *text, Path(snakemake.output.aligned), **settings)
    print(f"{pairs:,} pairs")
