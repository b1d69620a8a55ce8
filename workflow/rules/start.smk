"""What happens before the first job: the jobs are listed for `nmt status`, and what they will miss hours later is said."""

from pipeline.monitor.jobs import FILE, ONLY_LIST

# Where the list goes if it is all that this Snakemake is for.
LIST = os.environ.get(ONLY_LIST)


def start():
    """List the jobs; say what they will take, and refuse where something is missing."""
    # imported here, for they are not needed to read the rules
    from pipeline.monitor.preflight import Work, forecast, missing
    from workflow.jobs import job_list

    listed = job_list(CONFIG, workflow)
    if LIST:
        listed.write(Path(LIST))
        sys.exit(0)
    runs_here = workflow.executor_plugin.common_settings.local_exec
    work = Work.of_jobs(listed, None if runs_here else listed.due, engine.status_command(workflow))
    for line in forecast(CONFIG, work, Path()):
        print(line, file=sys.stderr)
    problems = missing(CONFIG, work, Path())
    if problems:
        refuse(problems)
    listed.write(FILE)
