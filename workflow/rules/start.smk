"""Check a run before its first job: print what it will take, and exit if it lacks something that it needs hours later.

In:  the graph of jobs.
Out: settings/*.json.
"""

from pipeline.monitor import jobs

# Whether this check is all that this Snakemake is for: `nmt preflight`.
CHECK_ONLY = jobs.CHECK_ONLY in os.environ

if not IS_SUBMITTED_JOB:
    try:
        SETTINGS.write()
    except UserError as error:
        exit_with_errors(error.args)


def check_run():
    """Print what the jobs will take, and exit with the problems if there are any."""
    if IS_SUBMITTED_JOB:
        return
    # imported here, since they are not needed to read the rules
    from pipeline.monitor.preflight import describe_forecast, find_problems

    job_list = internals.list_jobs(CONFIG, workflow)
    for line in describe_forecast(job_list, Path()):
        print(line, file=sys.stdout if CHECK_ONLY else sys.stderr)

    on_cluster = not workflow.executor_plugin.common_settings.local_exec
    problems = find_problems(job_list, on_cluster, internals.get_status_command(workflow))
    if problems:
        exit_with_errors(problems)
    if CHECK_ONLY:
        sys.exit(0)

    try:
        SETTINGS.require_lock()
    except UserError as error:
        exit_with_errors(error.args)
    jobs.started_runs.append(job_list)
