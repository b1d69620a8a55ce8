"""Write the pairs of a shard that the threshold takes, with empty lines in place of the others; count them."""

from job import job

with job(snakemake):
    from pathlib import Path

    from nmt.io.files import write_json
    from nmt.io.text_files import write_lines
    from nmt.selection import cross_entropy
    from nmt.settings.base import read
    from pipeline.preparation import StageCounts

    threshold = read(cross_entropy.Threshold, Path(snakemake.input.threshold), "choose it again")
    corpus, shard = snakemake.wildcards.corpus, int(snakemake.wildcards.number)
    text = Path(snakemake.input.source), Path(snakemake.input.target)
    counts = StageCounts()
    with (
        write_lines(snakemake.output.source) as sources,
        write_lines(snakemake.output.target) as targets,
    ):
        for source, target in cross_entropy.apply(
            threshold, corpus, shard, Path(snakemake.input.scores), text
        ):
            sources.write(source)
            targets.write(target)
            counts.add(source, target)
    counts.write_words(Path(snakemake.output.source_words), Path(snakemake.output.target_words))
    write_json(snakemake.output.counts, {"stage": counts.as_dict("selected")})
