"""Give the phrase table a model's p(target phrase given source phrase) as one more score (Cho et al., 2014a).

The new table leaves out the pairs whose source phrase occurs in none of the texts.
"""

from job import job

with job(snakemake):
    from pathlib import Path

    from nmt.store import trained_model
    from pipeline.phrase_based.phrase_scores import add_scores

    (model,) = trained_model.load_models([Path(snakemake.input.model[0]).parent], **snakemake.params.compute)
    texts = [Path(file) for file in snakemake.input.text]
    written, total = add_scores(model, Path(snakemake.input.table), texts, Path(snakemake.output.table))
    print(f"{written:,} of {total:,} pairs")
