"""What happens before the first job: what the run will take is told, and what it would miss hours later."""

from pipeline.monitor import jobs

# Whether this check is all that this Snakemake is for: `nmt preflight`.
CHECK_ONLY = jobs.CHECK_ONLY in os.environ

if not SUBMITTED:
    SETTINGS.write()


def start():
    """Say what the jobs will take, and refuse where something is missing."""
    if SUBMITTED:
        return
    # imported here, for they are not needed to read the rules
    from pipeline.monitor.preflight import describe_forecast, find_problems

    listed = internals.job_list(CONFIG, workflow)
    submits = not workflow.executor_plugin.common_settings.local_exec
    for line in describe_forecast(listed, Path()):
        print(line, file=sys.stdout if CHECK_ONLY else sys.stderr)
    problems = find_problems(listed, submits, internals.status_command(workflow))
    if problems:
        refuse(problems)
    if CHECK_ONLY:
        sys.exit(0)
    try:
        SETTINGS.require_lock()
    except UserError as error:
        refuse(error.args)
    jobs.started_runs.append(listed)
