"""Take the sides of a corpus out of their archives, and distribute their lines over shards."""

from job import job

with job(snakemake) as (inputs, outputs):
    from pipeline.config.catalogue import Corpus
    from pipeline.download.extraction import Side, extract_corpus

    corpus = Corpus.model_validate(snakemake.params.settings["corpus"])
    sides = {}
    for name, text in corpus.sides.items():
        if name in vars(outputs):  # text in one language is extracted once
            sides[name] = Side(
                archive=getattr(inputs, name),
                member=text.member,
                outputs=getattr(outputs, name),
                md5=text.md5,
            )
    counts = extract_corpus(sides, outputs.counts, corpus.pairs)
    print(f"{outputs.counts}: {counts['pairs']:,} pairs")
