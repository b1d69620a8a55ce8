"""Provide Moses: links to an installation on the path, or a build of the pinned source."""

from job import job

with job(snakemake) as (_, outputs):
    from pathlib import Path

    from nmt.io.files import write_json
    from pipeline.config.catalogue import Archive
    from pipeline.download.download import download_file
    from pipeline.moses.programs import provide_programs

    archive = Archive.model_validate(snakemake.params.archive)

    def fetch_source(path: Path) -> None:
        """Download the archive with Moses' source."""
        download_file(archive, path, snakemake.params.mirrors)

    origin = provide_programs(outputs.build.parent.resolve(), fetch_source, snakemake.threads)
    write_json(outputs.build, {"moses": origin})
    print(f"Moses from {origin}")
