"""Write the pairs with words on both sides as two plain files, which Moses' programs read."""

from job import job

with job(snakemake):
    from pathlib import Path

    from nmt.io.files import read_json
    from pipeline.phrase_based.text import write_text

    shards = [*zip(map(Path, snakemake.input.source), map(Path, snakemake.input.target), strict=True)]
    outputs = Path(snakemake.output.source), Path(snakemake.output.target)
    written, long = write_text(shards, outputs, **read_json(snakemake.input.settings))
    print(f"{written:,} pairs; {long:,} left out for their length")
