"""Check a run before its first job: print its forecast, and exit if it lacks something that it needs hours later.

In:  the graph of jobs.
Out: settings/*.json.
"""

from pipeline.monitor import jobs

# Whether Snakemake only checks and ends, as `nmt preflight` asks.
CHECK_ONLY = jobs.CHECK_ONLY_VARIABLE in os.environ

if not IS_SUBMITTED_JOB:
    try:
        SETTINGS_FILES.write()
        if IS_MODULE:  # Snakemake does not call `onstart` of a module
            SETTINGS_FILES.require_run_lock()
    except UserError as error:
        exit_with_errors(error.args)


def check_run():
    """Print the hours and the disk space that the jobs will take, and exit with the problems if there are any."""
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

    # While another run is active, the settings files are that run's, so this one must not start.
    try:
        SETTINGS_FILES.require_run_lock()
    except UserError as error:
        exit_with_errors(error.args)
    # for the logger, which shows the progress of these jobs
    jobs.started_job_lists.append(job_list)
