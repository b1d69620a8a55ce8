"""Align words in both directions, and make one alignment of both."""

from job import job

with job(snakemake) as (inputs, outputs):
    from pipeline.moses.alignment import align_text
    from pipeline.moses.programs import Moses

    moses = Moses(inputs.programs.parent)
    align_text(moses, inputs.source, inputs.target, output=outputs.alignment, **snakemake.params.settings)
