"""Write a model's card with its scores."""

from job import job

with job(snakemake) as (inputs, outputs):
    from nmt.io.files import read_json
    from nmt.store.model_card import CorpusInfo, write_card

    corpora = CorpusInfo(**snakemake.params.corpora)
    write_card(outputs.card.parent, corpora, read_json(inputs.scores))
