"""Write the pairs with words on both sides as two plain files, which Moses' programs read."""

from job import job

with job(snakemake) as (inputs, outputs):
    from pipeline.moses.text import write_text

    shards = list(zip(inputs.source, inputs.target, strict=True))
    pairs, long_pairs = write_text(shards, (outputs.source, outputs.target), **snakemake.params.settings)
    print(f"{pairs:,} pairs; {long_pairs:,} left out for their length")
