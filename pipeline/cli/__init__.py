"""The subcommands of the pipeline, which `nmt` has in a checkout of the project."""

# heading of the help -> words of the subcommand -> its function, as in nmt.cli.COMMANDS
COMMANDS = {
    "Run an experiment": {
        "new": "pipeline.cli.new:new",
        "status": "pipeline.cli.monitor:status",
        "preflight": "pipeline.cli.monitor:preflight",
        "compare": "pipeline.cli.compare:compare",
        "verify": "pipeline.cli.publish:verify",
    },
}
