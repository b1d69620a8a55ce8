"""Copy the inputs of tables and figures into the replication package."""

from job import job

with job(snakemake):
    from pathlib import Path

    from pipeline.results import package

    for name, keep in (
        ("translations", package.keep_translations),
        ("attention", package.keep_attention),
        ("lines", package.keep_lines),
        ("files", package.keep_file),
    ):
        for source, copy in zip(snakemake.input.get(name, []), snakemake.output.get(name, []), strict=True):
            keep(Path(source), Path(copy))
