"""Write the page with all results of the run."""

from job import job

with job(snakemake):
    from pathlib import Path

    import yaml

    from nmt.io.files import read_json
    from pipeline.results import page
    from pipeline.results.build import make_table
    from pipeline.results.inputs import Inputs
    from pipeline.results.package import ReplicationPackage

    params = snakemake.params
    artifacts = [Path(file) for file in snakemake.input.artifacts]
    package = ReplicationPackage(Path("results"))
    inputs = Inputs(package, package.folder / "papers", Path("scores"), package.folder / "comparison.json")
    page.write_report(
        Path(snakemake.output.page),
        params.title,
        params.papers,
        tables={file.stem: make_table(file.stem, inputs) for file in artifacts if file.suffix == ".md"},
        artifacts=artifacts,
        other_pages=params.beside,
        captions=yaml.safe_load(Path(params.captions).read_text(encoding="utf-8")),
        settings=read_json(snakemake.input.settings),
        several=params.several,
    )
