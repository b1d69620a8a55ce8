"""Provide KenLM's programs: links to those on the path, or built from the pinned source archive."""

from job import job

with job(snakemake) as (_, outputs):
    from nmt.io.files import write_json
    from pipeline.kenlm import provide_programs

    origin = provide_programs(outputs.build.parent.resolve(), snakemake.threads)
    write_json(outputs.build, {"kenlm": origin})
    print(f"lmplz, build_binary and query from {origin}")
