"""Subcommands of the pipeline, which `nmt` offers in a checkout of the project."""

# heading of the help -> subcommand -> module that defines it (dashes become underscores)
SECTIONS = {
    "Run an experiment": {
        "new": "pipeline.cli.new",
        "status": "pipeline.cli.monitor",
        "preflight": "pipeline.cli.monitor",
        "verify": "pipeline.cli.publish",
    },
}
"""What people call."""
STEPS = {
    "Pipeline steps that fetch and count corpora": {
        "download": "pipeline.cli.download",
        "extract": "pipeline.cli.download",
        "generate": "pipeline.cli.synthetic",
        "count": "pipeline.cli.statistics",
        "sum-counts": "pipeline.cli.statistics",
        "data-report": "pipeline.cli.statistics",
    },
    "Pipeline steps of the phrase-based system": {
        "moses-programs": "pipeline.cli.phrase_based",
        "moses-text": "pipeline.cli.phrase_based",
        "moses-align": "pipeline.cli.phrase_based",
        "moses-phrases": "pipeline.cli.phrase_based",
        "moses-tune": "pipeline.cli.phrase_based",
        "moses-decode": "pipeline.cli.phrase_based",
    },
    "Pipeline steps that make tables, figures and pages": {
        "compare": "pipeline.cli.compare",
        "score-table": "pipeline.cli.tables",
        "significance": "pipeline.cli.tables",
        "training-table": "pipeline.cli.tables",
        "sentence-table": "pipeline.cli.tables",
        "perplexity-table": "pipeline.cli.tables",
        "ablations": "pipeline.cli.tables",
        "tables-document": "pipeline.cli.tables",
        "figure2": "pipeline.cli.figures",
        "figure3": "pipeline.cli.figures",
        "unknown-words": "pipeline.cli.figures",
        "length-curves": "pipeline.cli.figures",
        "score-groups": "pipeline.cli.figures",
        "sentence-vectors": "pipeline.cli.figures",
        "learning-curves": "pipeline.cli.figures",
        "finding": "pipeline.cli.pages",
        "explorer": "pipeline.cli.pages",
        "playground": "pipeline.cli.pages",
        "report": "pipeline.cli.pages",
    },
    "Pipeline steps that record a run": {
        "package-results": "pipeline.cli.publish",
        "ro-crate": "pipeline.cli.publish",
    },
}
"""What the workflow calls."""
