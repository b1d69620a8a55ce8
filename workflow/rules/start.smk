"""Check a run before its first job: print its forecast, and exit if it lacks something that it needs hours later.

In:  the graph of jobs.
Out: settings/: run.json, results.json, captions.
"""

import atexit
from contextlib import chdir

from nmt.io.files import write_json, write_text
from nmt.io.messages import WARNING_START, print_warning
from pipeline.monitor.jobs import CHECK_FILE_VARIABLE, started_job_lists
from workflow.failures import watch_failures


def check_run():
    """Return the jobs, and the lines of the forecast of time and disk space and of the problems."""
    # imported here, since they are not needed to read the rules
    from pipeline.monitor.preflight import describe_forecast, find_problems

    job_list = internals.list_jobs(CONFIG, workflow)
    forecast = describe_forecast(job_list)
    problems = find_problems(job_list, SUBMITS_JOBS, internals.get_status_command(workflow))
    return job_list, forecast, problems


def start_run():
    """Check a run before its first job, and write the files that its jobs on a cluster and its report read.

    Until it ends, this process holds the run's lock. By it, others learn whether a Snakemake that has locked the folder
    still lives.
    """
    if records.take_run_lock() is None:
        exit_with_errors([f"{Path.cwd()}: another run is active here: wait for it, or end it"])

    job_list, forecast, problems = check_run()
    for line in forecast:
        if line.startswith(WARNING_START):
            print_warning(line.removeprefix(WARNING_START))
        else:
            print(line, file=sys.stderr)
    if problems:
        exit_with_errors(problems)

    # jobs on a cluster read the settings of this run, whatever config.yaml says by then
    write_json(RUN_SETTINGS, CONFIG.model_dump(mode="json"))
    records.plan_results([*RECORDED_FILES, RECORD])
    for name, caption in REPORT_CAPTIONS.items():
        write_text(records.get_caption_file(name), f"{caption}\n")
    # for the logger, which shows the progress of these jobs
    started_job_lists.append(job_list)


def answer_preflight(experiment):
    """Write the forecast and the problems of a dry-run into the file that `nmt preflight` has named.

    experiment: the folder of the experiment. When Python exits and calls this, Snakemake has left that folder.
    """
    if workflow.dag is not None:
        with chdir(experiment):
            _, forecast, problems = check_run()
        answer = {"forecast": forecast, "problems": problems}
        Path(os.environ[CHECK_FILE_VARIABLE]).write_text(json.dumps(answer), encoding="utf-8")


if not IS_SUBMITTED_JOB:
    watch_failures(workflow)

# A dry-run does not call `onstart`.
if CHECK_FILE_VARIABLE in os.environ:
    atexit.register(answer_preflight, Path.cwd())
