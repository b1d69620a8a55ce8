"""Subcommands of the pipeline, which `nmt` offers in a checkout of the project."""

# as `nmt.cli.COMMANDS`
COMMANDS = {
    "Run an experiment": {
        "new": "pipeline.cli.new:new",
        "status": "pipeline.cli.monitor:status",
        "preflight": "pipeline.cli.monitor:preflight",
        "verify": "pipeline.cli.publish:verify",
    },
}
