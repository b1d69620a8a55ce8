"""Write a model's card with its scores."""

from job import job

with job(snakemake):
    from pathlib import Path

    from nmt.io.files import read_json
    from nmt.store.release import CorpusInfo, write_card

    scores = read_json(Path(snakemake.input.scores))
    write_card(Path(snakemake.output.card).parent, CorpusInfo(**snakemake.params.text), scores)
