"""Write the page with all results of the run."""

from job import job

with job(snakemake) as (inputs, outputs):
    from pathlib import Path

    import yaml

    from pipeline.results.inputs import Inputs
    from pipeline.results.report import write_report

    params = snakemake.params
    results = Path("results")
    write_report(
        Inputs(results, Path("scores"), results / "comparison.json"),
        artifacts=inputs.artifacts,
        other_pages=params.other_pages,
        captions=yaml.safe_load(Path(params.captions_file).read_text(encoding="utf-8")),
        title=params.title,
        settings=params.settings,
        output=outputs.page,
    )
