"""Provide Moses: links to an installation on the path, or a build of the pinned source."""

from job import job

with job(snakemake):
    from pathlib import Path

    from nmt.io.files import write_json
    from pipeline.config.catalogue import Archive
    from pipeline.download.download import download_file
    from pipeline.phrase_based.programs import SOURCE, provide_programs

    archive = Archive.model_validate(snakemake.params.archive)

    def fetch(path: Path) -> None:
        """Download the source."""
        download_file(archive, path, snakemake.params.mirrors, archive.alternatives)

    build = Path(snakemake.output.build)
    origin = provide_programs(build.parent, fetch, snakemake.threads)
    write_json(build, {"moses": "the PATH" if origin.startswith("the PATH") else SOURCE})
    print(f"{build.parent}: Moses from {origin}")
