"""Train an experiment run by run, on machines that keep no files, and join the archives of the runs.

Usage: python tools/pieces.py run FOLDER RUN...         where the prepared text is: train these runs, and pack them
       python tools/pieces.py join FOLDER ARCHIVE...    where the runs come together

Each run, such as rnnsearch-50 or rnnsearch-50.seed-2, leaves an archive in FOLDER/pieces: translations, summary,
history and settings, no weights. Joined, they become the tables, figures and the replication package, which `nmt
verify` checks. FOLDER/pieces.yaml may name groups of runs, each of which can stand for RUN. Other options go to
Snakemake. If not all runs of the settings are there, join those that are by `--config use={models: [...]}`. What is
computed by a model needs its weights: join without a playground, by `--config playground={models: []}`. Moses has no
archive: its translations are made where the runs come together, before they are joined.
"""

import argparse
import os
import shutil
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from nmt.cli import describe_error  # noqa: E402  found by the line above
from nmt.errors import UserError  # noqa: E402
from nmt.io.messages import print_error  # noqa: E402
from pipeline.config.layers import read_layer  # noqa: E402
from pipeline.results.pieces import unpack_run  # noqa: E402

MPS = "nvidia-cuda-mps-control"
"""NVIDIA's program that lets the kernels of several processes run on a GPU at the same time."""
RULES_WITHOUT_WEIGHTS = (
    "dev_text",
    "bleu",
    "bleu_of_text",
    "package_results",
    "package_corpora",
    "package_settings",
    "compare",
    "tables",
    "figures",
    "data_report",
    "report",
    "ro_crate",
)
"""The rules that make results of the archives. No other rule may run, since it would need the weights."""


def main() -> int:
    """Run or join pieces, and return Snakemake's exit code."""
    arguments, options = parse_arguments()
    folder: Path = arguments.folder
    try:
        if arguments.command == "run":
            return run_pieces(folder, arguments.runs, arguments.at_once, options)
        return join_pieces(folder, arguments.archives, options)
    except (UserError, OSError) as error:
        print_error(str(describe_error(error)))
        return 2


def parse_arguments() -> tuple[argparse.Namespace, list[str]]:
    """Return the command with its arguments, and the options of Snakemake."""
    parser = argparse.ArgumentParser(
        description=(__doc__ or "").partition("\n")[0],
        epilog="Other options go to Snakemake.",
        allow_abbrev=False,
    )
    commands = parser.add_subparsers(dest="command", required=True)
    run = commands.add_parser("run", help="train and translate runs, and pack them", allow_abbrev=False)
    join = commands.add_parser("join", help="make the results from archives", allow_abbrev=False)
    for command in (run, join):
        command.add_argument("folder", type=Path, help="the experiment")
    run.add_argument("runs", nargs="+", metavar="RUN", help="a run, or a group of runs in FOLDER/pieces.yaml")
    run.add_argument(
        "--at-once", type=int, default=1, help="how many trainings share a GPU at a time (%(default)s)"
    )
    join.add_argument("archives", type=Path, nargs="+", metavar="ARCHIVE", help="FOLDER/pieces/RUN.tar.zst")
    return parser.parse_known_args()


def run_pieces(folder: Path, names: Sequence[str], parallel_trainings: int, options: Sequence[str]) -> int:
    """Train and translate runs, and pack the files that the results need."""
    # 1. the archive of each run, by its name or in a group
    groups_file = folder / "pieces.yaml"
    groups = read_layer(groups_file).values if groups_file.is_file() else {}
    targets = []
    for name in names:
        targets += [f"pieces/{run}.tar.zst" for run in groups.get(name, [name])]

    # 2. trainings that share the GPU; otherwise each has one of its own, or cores
    environment = dict(os.environ)
    if parallel_trainings > 1:
        environment["NMT_GPUS"] = ""  # an empty pool: no job gets a GPU of its own
        if shutil.which(MPS):
            subprocess.run([MPS, "-d"], check=False)  # fails if it runs already
        targets += ["--resources", f"gpu={parallel_trainings}"]
    return run_snakemake(folder, [*targets, *options], environment)


def join_pieces(folder: Path, archives: Sequence[Path], options: Sequence[str]) -> int:
    """Unpack archives into the experiment, and make its results without any weights."""
    for archive in archives:
        unpack_run(archive, folder)
    targets = ["results/ro-crate-metadata.json", "--allowed-rules", *RULES_WITHOUT_WEIGHTS]
    return run_snakemake(folder, [*targets, *options], dict(os.environ))


def run_snakemake(folder: Path, options: Sequence[str], environment: dict[str, str]) -> int:
    """Run the experiment with these targets and options of Snakemake, and return its exit code."""
    command = [sys.executable, str(ROOT / "tools" / "run.py"), str(folder), *options]
    return subprocess.run(command, env=environment, check=False).returncode


if __name__ == "__main__":
    sys.exit(main())
