"""Subcommands of the pipeline, which `nmt` offers in a checkout of the project."""

# heading of the help -> subcommand -> where its function is
SECTIONS = {
    "Run an experiment": {
        "new": "pipeline.cli.new:new",
        "status": "pipeline.cli.monitor:status",
        "preflight": "pipeline.cli.monitor:preflight",
        "verify": "pipeline.cli.publish:verify",
    },
}
"""Subcommands for direct use."""
# group -> subcommand -> where its function is
GROUPS = {
    "data": {
        "download": "pipeline.cli.download:download",
        "extract": "pipeline.cli.download:extract",
        "generate": "pipeline.cli.synthetic:generate",
    },
    "figure": {"vectors": "pipeline.cli.figures:sentence_vectors"},
    "page": {"playground": "pipeline.cli.pages:playground"},
}
"""Subcommands that the workflow calls."""
