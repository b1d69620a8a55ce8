"""Give the phrase table a model's p(target phrase given source phrase) as one more score (Cho et al., 2014a).

The new table leaves out the pairs whose source phrase occurs in none of the texts.
"""

from job import job

with job(snakemake) as (inputs, outputs):
    from nmt.store import trained_model
    from pipeline.moses.phrase_scores import add_scores

    model_folder = inputs.model[0].parent
    (model,) = trained_model.load_models([model_folder], **snakemake.params.device_and_threads)
    add_scores(model, inputs.table, inputs.text, outputs.table)
