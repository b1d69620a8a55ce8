"""Provide KenLM's programs: links to those on the path, or built from the pinned source archive."""

from job import job

with job(snakemake) as (_, outputs):
    from nmt.io.files import write_json
    from pipeline.kenlm import REQUIREMENT, provide_programs

    folder = outputs.build.parent
    origin = provide_programs(folder, snakemake.threads)
    write_json(outputs.build, {"kenlm": "the PATH" if origin == "the PATH" else REQUIREMENT})
    print(f"{folder}: lmplz, build_binary and query from {origin}")
