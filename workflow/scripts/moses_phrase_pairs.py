"""Write each pair of a phrase table once, as training text for a model (Cho et al., 2014a); hold out 1,000 pairs."""

from job import job

with job(snakemake) as (inputs, outputs):
    from pipeline.moses.phrase_pairs import write_pairs

    train_pairs, dev_pairs = write_pairs(
        inputs.table, held_out=1000, train=tuple(outputs.train), dev=tuple(outputs.dev)
    )
    print(f"{train_pairs:,} pairs; {dev_pairs:,} held out")
