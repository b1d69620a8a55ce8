"""What happens before the first job: the jobs are listed for `nmt status`, and what they will miss hours later is said."""

from pipeline.monitor.file_sizes import left_damaged, record
from pipeline.monitor.jobs import FILE, ONLY_LIST

# Where the list goes if it is all that this Snakemake is for.
LIST = os.environ.get(ONLY_LIST)


# Here, since `onstart` is not called where nothing is due, and what to run is not known yet but by the command.
if not LIST and not engine.of(workflow, "inside a job"):
    if problems := left_damaged(sys.argv, Path()):
        refuse(problems)


def end():
    """Remember the sizes of what is there, to notice at the next start what was cut short."""
    record(file for job, _ in engine.jobs_with_files(workflow) for file in job.output)


def start():
    """List the jobs; say what they will take, and refuse where something is missing."""
    # imported here, for they are not needed to read the rules
    from pipeline.monitor.partition_check import Cluster
    from pipeline.monitor.preflight import Work, forecast, missing
    from workflow.jobs import job_list

    listed = job_list(CONFIG, workflow)
    if LIST:
        listed.write(Path(LIST))
        sys.exit(0)
    runs_here = workflow.executor_plugin.common_settings.local_exec
    cluster = None if runs_here else Cluster.of_jobs(listed.due, engine.status_command(workflow))
    work = Work.of_jobs(listed, cluster)
    for line in forecast(CONFIG, work, Path()):
        print(line, file=sys.stderr)
    problems = missing(CONFIG, work, Path())
    if problems:
        refuse(problems)
    listed.write(FILE)
