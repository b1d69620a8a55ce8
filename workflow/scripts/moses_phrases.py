"""Extract and score phrases and their reordering."""

from job import job

with job(snakemake):
    from pathlib import Path

    from nmt.io.files import read_json
    from pipeline.phrase_based.phrases import extract_phrases
    from pipeline.phrase_based.programs import Moses, reset_moses_log

    phrases, reordering = map(Path, snakemake.output.tables)
    extract_phrases(
        Moses.from_build_file(snakemake.input.programs),
        (Path(snakemake.input.source), Path(snakemake.input.target)),
        Path(snakemake.input.aligned),
        (phrases, reordering),
        reset_moses_log(snakemake.log[0]),
        **read_json(snakemake.input.settings),
        threads=snakemake.threads,
        memory_mb=snakemake.resources.mem_mb // 2,
    )
