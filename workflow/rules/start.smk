"""What happens before the first job: what the run will take is told, and what it would miss hours later."""

from pipeline.monitor import jobs

# Whether this check is all that this Snakemake is for: `nmt preflight`.
CHECK_ONLY = jobs.CHECK_ONLY in os.environ


def start():
    """Say what the jobs will take, and refuse where something is missing."""
    # imported here, for they are not needed to read the rules
    from nmt.io.files import write_text
    from pipeline.monitor.preflight import forecast, missing

    listed = internals.job_list(CONFIG, workflow)
    sent = not workflow.executor_plugin.common_settings.local_exec
    for line in forecast(listed, Path()):
        print(line, file=sys.stdout if CHECK_ONLY else sys.stderr)
    problems = missing(listed, Path(), sent, internals.status_command(workflow))
    if problems:
        refuse(problems)
    if CHECK_ONLY:
        sys.exit(0)
    jobs.started.append(listed)
    write_text(jobs.SETTINGS, CONFIG.model_dump_json() + "\n")
