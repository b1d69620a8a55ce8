"""Compute BLEU of a system's translations: of all sentences, and of those without unknown words."""

from job import job

with job(snakemake):
    from pathlib import Path

    from nmt.evaluation.bleu import score_model, score_other_system
    from nmt.io.files import write_json

    files = {name: Path(file) for name, file in snakemake.input.items()}
    test, params = (files["source"], files["reference"]), snakemake.params
    if "text" in files:
        scores = score_other_system(params.model, files["text"], files["no_unk"], test)
    else:
        scores = score_model(params.model, files["all"], files["no_unk"], test)
    write_json(Path(snakemake.output.scores), {"seed": params.seed, **scores})
