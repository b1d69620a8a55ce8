"""The subcommands of the pipeline, which `nmt` has in a checkout of the project."""

# name of the subcommand -> its function
COMMANDS = {
    "new": "pipeline.cli.new:new",
    "status": "pipeline.cli.monitor:status",
    "preflight": "pipeline.cli.monitor:preflight",
    "compare": "pipeline.cli.compare:compare",
    "verify": "pipeline.cli.verify:verify",
    "agree": "pipeline.cli.verify:agree",
}
