"""Provide KenLM's programs: links to those on the path, or built from the pinned source archive."""

from job import job

with job(snakemake):
    from pathlib import Path

    from nmt.io.files import write_json
    from pipeline.kenlm import REQUIREMENT, provide_programs

    build = Path(snakemake.output.build)
    origin = provide_programs(build.parent, snakemake.threads)
    write_json(build, {"kenlm": "the PATH" if origin == "the PATH" else REQUIREMENT})
    print(f"{build.parent}: lmplz, build_binary and query from {origin}")
