"""Write the pairs with words on both sides as two plain files, which Moses' programs read."""

from job import group_by_corpus, job

with job(snakemake) as (inputs, outputs):
    from pipeline.moses.text import write_text

    text = group_by_corpus(inputs.source, inputs.target)
    pair_count = write_text(text, (outputs.source, outputs.target), **snakemake.params.settings)
    print(f"{pair_count:,} pairs")
