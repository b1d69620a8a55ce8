"""Subcommands of the pipeline, which `nmt` offers in a checkout of the project."""

# as `nmt.cli.COMMANDS`
COMMANDS = {
    "Run an experiment": {
        "new": "pipeline.cli.new:new",
        "status": "pipeline.cli.monitor:status",
        "preflight": "pipeline.cli.monitor:preflight",
        "verify": "pipeline.cli.publish:verify",
    },
    "Steps of the workflow, in groups (nmt GROUP --help)": {
        "data download": "pipeline.cli.download:download",
        "data extract": "pipeline.cli.download:extract",
    },
}
