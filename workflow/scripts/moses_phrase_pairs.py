"""Write each pair of a phrase table once, as training text for a model (Cho et al., 2014a); keep 1,000 apart."""

from job import job

with job(snakemake):
    from pathlib import Path

    from pipeline.phrase_based.phrase_pairs import write_pairs

    train, dev = (tuple(map(Path, snakemake.output[part])) for part in ("train", "dev"))
    pairs, apart = write_pairs(Path(snakemake.input.table), 1000, train, dev)
    print(f"{pairs:,} pairs; {apart:,} kept apart")
