"""Run or resume an experiment, and show its results. Targets such as `make demo` call this.

Usage: python workflow/run.py [--cores N] FOLDER [option of snakemake]...
"""

from __future__ import annotations

import argparse
import os
import re
import signal
import subprocess
import sys
import textwrap
from collections.abc import Sequence
from pathlib import Path
from types import FrameType

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from nmt.environment import environment, prepare  # noqa: E402  found by the line above


def main() -> int:
    """Run the experiment, and return Snakemake's exit code."""
    from nmt.errors import UserError, convert_os_error

    arguments, options = _arguments()
    folder: Path = arguments.folder
    try:
        if not folder.is_dir():
            raise UserError(f"{folder}: no such folder: expected an experiment, such as experiments/demo")
        _read_settings(options)
        return _run_alone(folder, arguments.cores, options)
    except BrokenPipeError:  # the reader of our output has gone, such as `less`
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 1
    except (UserError, OSError) as error:
        problem = convert_os_error(error, error.filename or folder) if isinstance(error, OSError) else error
        print(f"error: {problem}", file=sys.stderr)
        return 2


def _run_alone(folder: Path, cores: str, options: Sequence[str]) -> int:
    """Run the experiment unless somebody else does, and return Snakemake's exit code."""
    from nmt.errors import UserError
    from nmt.io.locks import hold_folder
    from workflow.settings_files import LOCK

    try:
        # Snakemake holds this lock as long as it lives, so what else it has locked is that of a run that was killed.
        with hold_folder(folder / LOCK, "refuse"):
            if any((folder / ".snakemake" / "locks").glob("*")):
                _run(folder, [*_snakemake(folder, cores, ["--unlock"]), *options])
    except UserError:
        raise UserError(f"{folder}: another run is active here: wait for it, or end it") from None
    code = _run(folder, _snakemake(folder, cores, options))
    if code == 0 and _complete(options):
        _show(folder)
    return code


def _arguments() -> tuple[argparse.Namespace, list[str]]:
    parser = argparse.ArgumentParser(
        description="Run an experiment; other options go to snakemake.", allow_abbrev=False
    )
    parser.add_argument("folder", type=Path, help="the experiment, such as experiments/demo; . is the paper")
    parser.add_argument("--cores", default="all", help="cores to use (all)")
    return parser.parse_known_args()


def _read_settings(options: Sequence[str]) -> None:
    """Read the files after `--configfile`: what Snakemake says of one that it cannot read does not name it."""
    from pipeline.config.layers import read_layer

    parser = argparse.ArgumentParser(add_help=False, allow_abbrev=False)
    parser.add_argument("--configfile", "--configfiles", type=Path, nargs="+", default=[])
    for file in parser.parse_known_args(options)[0].configfile:
        read_layer(file)


def _complete(options: Sequence[str]) -> bool:
    """Return whether the call is a plain run to the end, not a dry-run or the like."""
    short = {letter for option in options if re.fullmatch("-[a-zA-Z]+", option) for letter in option[1:]}
    return not (RUNS_NOTHING & _names(options) or set("nvtlSD") & short)


def _names(options: Sequence[str]) -> set[str]:
    return {option.partition("=")[0] for option in options}


def _snakemake(folder: Path, cores: str, options: Sequence[str]) -> list[str]:
    import yaml

    command = [sys.executable, "-m", "snakemake", "--snakefile", str(ROOT / "Snakefile")]
    command += ["--directory", str(folder)]
    # the default profile's options, without the line by which Snakemake names it
    if "--workflow-profile" not in _names(options):
        profile = yaml.safe_load((ROOT / "profiles" / "default" / "config.yaml").read_text(encoding="utf-8"))
        command += ["--workflow-profile", "none", "--rerun-incomplete"]
        command += ["--rerun-triggers", *profile["rerun-triggers"]]
    if _complete(options) and not SNAKEMAKE_OUTPUT_OPTIONS & set(options):
        command += ["--logger", "nmt"]
    if not any(option == "--profile" or option.startswith("--profile=") for option in options):
        command += ["--cores", cores]
    return [*command, *options]


def _environment(folder: Path) -> dict[str, str]:
    """Return the environment in which Snakemake finds its logger."""
    prepared = environment(folder)
    places = [str(ROOT), str(ROOT / "workflow" / "logger"), prepared["PYTHONPATH"]]
    own = {name: value for name, value in os.environ.items() if name != "SNAKEMAKE_PROFILE"}
    return own | prepared | {"PYTHONPATH": os.pathsep.join(filter(None, places))}


RUNS_NOTHING = {
    "--dry-run", "--dryrun", "--lint", "--report", "--unlock", "--summary", "--detailed-summary", "--dag",
    "--rulegraph", "--filegraph", "--d3dag", "--list", "--list-rules", "--list-target-rules", "--lt", "--version",
    "--touch",
}  # fmt: skip
"""Options of Snakemake with which nothing is computed."""
SNAKEMAKE_OUTPUT_OPTIONS = {"--logger", "--printshellcmds", "-p", "--quiet", "-q", "--verbose"}
"""Options that ask for Snakemake's own lines instead of those of `workflow/logger`."""


def _run(folder: Path, command: Sequence[str]) -> int:
    """Run a command to its end. A signal to end is passed on, and Snakemake then ends cleanly."""
    with subprocess.Popen(command, env=_environment(folder)) as process:

        def hand_on(number: int, frame: FrameType | None) -> None:
            if number == signal.SIGINT:  # the terminal itself sends that one to both
                print("\ninterrupted: running jobs are ended now", file=sys.stderr)
            else:
                print("\nno further job begins; running jobs finish first, Ctrl-C ends them", file=sys.stderr)
                process.send_signal(number)
            signals.append(number)

        signals: list[int] = []
        for number in (signal.SIGINT, signal.SIGTERM):
            signal.signal(number, hand_on)
        code = process.wait()
    if signals:  # last, so that it is what one sees
        print("what is finished stays; the same command continues", file=sys.stderr)
    return code


WIDTH = 80
"""Columns of a terminal."""


def _show(folder: Path) -> None:
    """Print what a person wants first: Table 1, the finding, where the report is, how to translate."""
    results = folder / "results"
    for table in sorted(results.glob("*table1.md")):
        rows = [line for line in table.read_text(encoding="utf-8").splitlines() if line.startswith("|")]
        while any(len(row) > WIDTH and row.count("|") > 2 for row in rows):
            rows = [row[: row.rindex("|", 0, -1) + 1] for row in rows]  # the file has the last columns, too
        print("\nTable 1, BLEU on the test text", *rows, sep="\n")
    if (results / "headline.txt").is_file():
        text = (results / "headline.txt").read_text(encoding="utf-8")
        print("", *(line for part in text.splitlines() for line in textwrap.wrap(part, WIDTH)), sep="\n")
    if (results / "report.html").is_file():
        print(f"\nOpen {results / 'report.html'} for all tables and figures.")
    if models := sorted(file.parent for file in folder.glob("models/*/text.json")):
        print(f"To try: .venv/bin/nmt translate --model {max(models, key=_usefulness)}")


def _usefulness(model: Path) -> tuple[bool, float]:
    """Return whether Figure 3 shows a model, and its BLEU: the order in which a person would try models."""
    from nmt.io.files import read_json
    from pipeline.config.folder import RUN_SETTINGS

    folder = model.parents[1]
    score = folder / "scores" / "test" / f"{model.name}.json"
    bleu = float(read_json(score)["bleu_all"]) if score.is_file() else 0.0
    settings = folder / RUN_SETTINGS
    figure3_model = read_json(settings)["artifacts"]["figure3_model"] if settings.is_file() else ""
    return model.name == figure3_model, bleu


if __name__ == "__main__":
    prepare()
    sys.exit(main())
