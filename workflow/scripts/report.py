"""Write the page with all results of the run."""

from job import job

with job(snakemake) as (inputs, outputs):
    from pathlib import Path

    import yaml

    from pipeline.results.inputs import Inputs
    from pipeline.results.package import ReplicationPackage
    from pipeline.results.report import write_report
    from pipeline.results.tables.attention import make_attention_table
    from pipeline.results.tables_and_figures import make_table

    params = snakemake.params
    results = Path("results")
    package_inputs = Inputs(ReplicationPackage(results), Path("scores"), results / "comparison.json")

    # the tables, whose files are Markdown, and a table of the attention
    tables = {}
    for file in inputs.artifacts:
        if file.suffix == ".md":
            tables[file.stem] = make_table(file.stem, package_inputs)
    attention_table = make_attention_table(package_inputs)
    if attention_table:
        tables["attention"] = attention_table

    write_report(
        outputs.page,
        title=params.title,
        papers=params.papers,
        tables=tables,
        artifacts=inputs.artifacts,
        other_pages=params.other_pages,
        captions=yaml.safe_load(Path(params.captions_file).read_text(encoding="utf-8")),
        settings=params.settings,
    )
