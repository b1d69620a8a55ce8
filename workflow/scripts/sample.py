"""Draw the text of the out-of-domain language models at random from the training text."""

from job import group_by_corpus, job

with job(snakemake) as (inputs, outputs):
    from nmt.selection.language_models import count_nonempty_lines, sample_pairs

    settings = snakemake.params.settings
    # without a number in the settings, as many pairs as the in-domain text has
    requested_pairs = settings["pairs"] or count_nonempty_lines(inputs.in_domain)
    sampled_pairs = sample_pairs(
        corpora=group_by_corpus(inputs.source, inputs.target),
        pair_count=requested_pairs,
        seed=settings["seed"],
        source=outputs.source,
        target=outputs.target,
    )
    print(f"{sampled_pairs:,} of {requested_pairs:,} requested pairs")
