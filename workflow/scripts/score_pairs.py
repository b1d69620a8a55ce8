"""Score the pairs of a shard by cross-entropy difference."""

from job import job

with job(snakemake):
    from contextlib import ExitStack
    from pathlib import Path

    from nmt.selection import cross_entropy
    from nmt.selection.language_models import asking

    programs = Path(snakemake.input.programs).parent
    with ExitStack() as stack:
        source, target = (
            cross_entropy.Models(
                *(stack.enter_context(asking(Path(file), programs)) for file in snakemake.input[side])
            )
            for side in ("source_models", "target_models")
        )
        text = Path(snakemake.input.source), Path(snakemake.input.target)
        cross_entropy.score(*text, source, target, Path(snakemake.output.scores))
