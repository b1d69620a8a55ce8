"""Write each pair of a phrase table once, as training text for a model (Cho et al., 2014a); hold out 1,000 pairs."""

from job import job

with job(snakemake) as (inputs, outputs):
    from pipeline.moses.phrase_pairs import write_pairs

    train_count, dev_count = write_pairs(
        inputs.table, max_dev_pairs=1000, train=tuple(outputs.train), dev=tuple(outputs.dev)
    )
    print(f"{train_count:,} pairs; {dev_count:,} held out")
