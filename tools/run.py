"""Run or resume an experiment, and show its results. Targets such as `make demo` call this.

Usage: python tools/run.py [--cores N] FOLDER [option of snakemake]...
"""

import argparse
import contextlib
import io
import os
import re
import shlex
import shutil
import signal
import subprocess
import sys
import textwrap
from collections.abc import Sequence
from pathlib import Path
from types import FrameType

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from nmt.environment import child_environment, prepare  # noqa: E402  found by the line above

RUNS_NOTHING = {
    "--dry-run", "--dryrun", "--lint", "--report", "--unlock", "--summary", "--detailed-summary", "--dag",
    "--rulegraph", "--filegraph", "--d3dag", "--list", "--list-rules", "--list-target-rules", "--lt", "--version",
    "--touch",
}  # fmt: skip
"""Options of Snakemake with which it computes nothing."""
SNAKEMAKE_OUTPUT_OPTIONS = {"--logger", "--printshellcmds", "-p", "--quiet", "-q", "--verbose"}
"""Options that ask for Snakemake's own lines instead of those of `workflow/logger`."""
TERMINAL_COLUMNS = 80


def main() -> int:
    """Run the experiment, and return Snakemake's exit code."""
    from nmt.cli import describe_error
    from nmt.errors import UserError
    from nmt.io.messages import print_error
    from nmt.settings.base import suggest_name

    arguments, options = _parse_arguments()
    folder: Path = arguments.folder
    try:
        if not folder.is_dir():
            known_folders = [str(file.parent) for file in Path("experiments").glob("*/config.yaml")]
            suggestion = suggest_name(str(folder), known_folders) or ", such as experiments/demo"
            raise UserError(f"{folder}: no such folder: expected an experiment{suggestion}")
        for path in (folder, folder / ".snakemake"):
            if path.exists() and not os.access(path, os.W_OK):
                raise UserError(f"{path}: cannot be written to: run a copy, with its .snakemake/, elsewhere")
        if options:
            _check_options(options)
        if _is_full_run(options):
            _unlock_folder(folder)
        exit_code = _run_command(folder, _build_command(folder, arguments.cores, options))
        if exit_code == 0 and _is_full_run(options) and _has_new_results(folder):
            _print_results(folder)
        return exit_code
    except (UserError, OSError) as error:
        print_error(str(describe_error(error)))
        return 2


# --- arguments --------------------------------------------------------------------------------------------------------


def _parse_arguments() -> tuple[argparse.Namespace, list[str]]:
    """Return the folder and the cores, and the options of Snakemake."""
    parser = argparse.ArgumentParser(
        description="Run an experiment; other options go to snakemake.", allow_abbrev=False
    )
    parser.add_argument("folder", type=Path, help="the experiment, such as experiments/demo; . is the paper")
    parser.add_argument("--cores", default="all", help="cores to use (all)")
    return parser.parse_known_args()


def _check_options(options: Sequence[str]) -> None:
    """Raise a UserError for an option that Snakemake does not know, and for a file that it cannot read.

    Snakemake's own messages are pages of usage, and do not name the file.
    """
    from snakemake.cli import get_argument_parser

    from nmt.errors import UserError
    from pipeline.config.layers import read_layer

    usage = io.StringIO()
    try:
        with contextlib.redirect_stderr(usage):
            arguments = get_argument_parser().parse_args(options, env_vars={})
    except SystemExit as error:
        if not error.code:  # --help and --version
            raise
        _, _, problem = usage.getvalue().rpartition(" error: ")
        raise UserError(f"snakemake: {problem.strip()}") from None

    for pair in arguments.config or []:
        if "=" not in pair:
            example = "--config 'seeds=[1, 2]'"
            raise UserError(f"--config: {pair}: expected KEY=VALUE; quote a value with spaces: {example}")
    for file in arguments.configfile or []:
        read_layer(file)


def _is_full_run(options: Sequence[str]) -> bool:
    """Return whether Snakemake runs jobs with these options, unlike in a dry-run and the like."""
    # -n and others, which may be joined with other short options: -np is -n and -p
    if any(re.fullmatch("-[a-zA-Z]*[nvtlSD][a-zA-Z]*", option) for option in options):
        return False
    return RUNS_NOTHING.isdisjoint(_list_option_names(options))


def _list_option_names(options: Sequence[str]) -> set[str]:
    """Return the options without their values: --config for --config=x."""
    return {option.partition("=")[0] for option in options}


def _build_command(folder: Path, cores: str, options: Sequence[str]) -> list[str]:
    """Return the command line of Snakemake."""
    import yaml

    command = [sys.executable, "-m", "snakemake", "--snakefile", str(ROOT / "Snakefile")]
    command += ["--directory", str(folder)]
    option_names = _list_option_names(options)
    # the options of the default profile one by one, since for a profile Snakemake prints a line
    if "--workflow-profile" not in option_names:
        profile = yaml.safe_load((ROOT / "profiles" / "default" / "config.yaml").read_text(encoding="utf-8"))
        command += ["--workflow-profile", "none", "--rerun-incomplete"]
        command += ["--rerun-triggers", *profile["rerun-triggers"]]
    if _is_full_run(options) and not SNAKEMAKE_OUTPUT_OPTIONS & set(options):
        command += ["--logger", "nmt"]
    if "--profile" not in option_names:
        command += ["--cores", cores]
    return [*command, *options]


# --- the run ----------------------------------------------------------------------------------------------------------


def _unlock_folder(folder: Path) -> None:
    """Remove the locks of a Snakemake that was killed. Raise a UserError if another one is at work in the folder."""
    from nmt.errors import UserError
    from workflow.records import take_run_lock

    locks = folder / ".snakemake" / "locks"
    if not any(locks.glob("*")):
        return
    # a living Snakemake holds this lock; if we get it, the other locks are left from a Snakemake that was killed
    run_lock = take_run_lock(folder)
    if run_lock is None:
        raise UserError(f"{folder}: another run is active here: wait for it, or end it")
    shutil.rmtree(locks)
    os.close(run_lock)


def _build_environment(folder: Path) -> dict[str, str]:
    """Return the environment in which Snakemake finds its logger and the packages."""
    environment = {**os.environ, **child_environment(folder)}
    paths = [str(ROOT), str(ROOT / "workflow" / "logger"), environment["PYTHONPATH"]]
    environment["PYTHONPATH"] = os.pathsep.join(filter(None, paths))
    environment.pop("SNAKEMAKE_PROFILE", None)
    return environment


def _run_command(folder: Path, command: Sequence[str]) -> int:
    """Run Snakemake to its end, and return the exit code. If a signal ends this program, Snakemake ends cleanly."""
    received_signal = 0
    with subprocess.Popen(command, env=_build_environment(folder)) as process:

        def forward_signal(number: int, frame: FrameType | None) -> None:
            nonlocal received_signal
            if number == signal.SIGINT:  # a terminal sends it to Snakemake as well
                if received_signal != number:
                    text = "running jobs are ended, and trainings are saved, which may take a minute"
                    print(f"\ninterrupted: {text}", file=sys.stderr)
            else:
                print("\nno further job begins; running jobs finish first, Ctrl-C ends them", file=sys.stderr)
                process.send_signal(number)
            received_signal = number

        signal.signal(signal.SIGINT, forward_signal)
        signal.signal(signal.SIGTERM, forward_signal)
        exit_code = process.wait()
    if received_signal:  # printed at the end, so that it is the last line
        print("what is finished stays; the same command continues", file=sys.stderr)
        if exit_code:
            return 128 + received_signal  # as a shell does
    return exit_code


# --- its results ------------------------------------------------------------------------------------------------------


def _has_new_results(folder: Path) -> bool:
    """Return whether the report, if there is one, is newer than all models and scores.

    A run of other targets, such as `models`, may leave a report of a former run.
    """
    report = folder / "results" / "report.html"
    if not report.is_file():
        return True
    report_time = report.stat().st_mtime
    inputs = [*folder.glob("models/*/summary.json"), *folder.glob("scores/test/*.json")]
    return all(file.stat().st_mtime <= report_time for file in inputs)


def _print_results(folder: Path) -> None:
    """Print Table 1, the headline result, how published runs score, where the report is, and how to translate."""
    from nmt.io.files import read_json
    from pipeline.results.published_runs import compare_with_published_runs

    results = folder / "results"
    for table in sorted(results.glob("*table1.md")):
        lines = table.read_text(encoding="utf-8").splitlines()
        rows = [line for line in lines if line.startswith("|")]
        # until each row fits, leave out the last column: "| a | b |" -> "| a |"
        while any(len(row) > TERMINAL_COLUMNS and row.count("|") > 2 for row in rows):
            rows = [row[: row.rindex("|", 0, -1) + 1] for row in rows]
        print("\nTable 1, BLEU on the test text", *rows, sep="\n")

    headline = results / "headline.txt"
    paragraphs = headline.read_text(encoding="utf-8").splitlines() if headline.is_file() else []
    comparison = compare_with_published_runs(results, Path("results", "packages", folder.name))
    if comparison:
        paragraphs.append(comparison)
    if paragraphs:
        print()
    for paragraph in paragraphs:
        print(textwrap.fill(paragraph, TERMINAL_COLUMNS))
    if (results / "report.html").is_file():
        print(f"\nOpen {results / 'report.html'} for all tables and figures.")

    # the model with the best BLEU; a model without scores counts as 0
    best_model, best_bleu = None, -1.0
    for file in sorted(folder.glob("models/*/text.json")):
        scores = folder / "scores" / "test" / f"{file.parent.name}.json"
        bleu = read_json(scores)["bleu_all"] if scores.is_file() else 0.0
        if bleu > best_bleu:
            best_model, best_bleu = file.parent, bleu
    if best_model:
        command = shlex.join([".venv/bin/nmt", "translate", "--model", str(best_model)])
        print("To try:", f"    {command}", sep="\n")


if __name__ == "__main__":
    prepare()
    sys.exit(main())
