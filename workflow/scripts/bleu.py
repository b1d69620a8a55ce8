"""Compute BLEU of a system's translations: of all sentences, and of those without unknown words."""

from job import job

with job(snakemake) as (inputs, outputs):
    from nmt.evaluation.bleu import score_model, score_plain_text
    from nmt.io.files import write_json

    params = snakemake.params
    test_text = (inputs.source, inputs.reference)
    if "text" in vars(inputs):  # in the rule bleu_of_text
        scores = score_plain_text(params.model, inputs.text, inputs.no_unk, test_text)
    else:
        scores = score_model(params.model, inputs.all, inputs.no_unk, test_text)
    write_json(outputs.scores, {"seed": params.seed, **scores})
