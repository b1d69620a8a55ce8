"""Train an experiment piece by piece, on machines that keep no files, and join the archives of the pieces.

Usage: python workflow/pieces.py run FOLDER PIECE [--at-once N]    where there are a GPU and the prepared text
       python workflow/pieces.py join FOLDER ARCHIVE...           where the pieces come together

FOLDER/pieces.yaml has the runs of each piece. A piece leaves an archive of each run in FOLDER/pieces: translations,
summary, history and settings, no weights. Joined, they become the tables, figures and the replication package, which
`nmt verify` checks.
"""

import argparse
import os
import shutil
import subprocess
import sys
import tarfile
import time
from collections.abc import Sequence
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from nmt.cli import describe_error  # noqa: E402  found by the line above
from nmt.errors import UserError  # noqa: E402
from pipeline.config.layers import read_layer  # noqa: E402

MPS = "nvidia-cuda-mps-control"
"""NVIDIA's program that lets the kernels of several processes run on a GPU at the same time."""
RULES_WITHOUT_WEIGHTS = (
    "dev_text",
    "bleu",
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
    """Run a piece or join pieces, and return Snakemake's exit code."""
    options = parse_arguments()
    try:
        if options.command == "run":
            return run_piece(options.folder, options.piece, options.at_once)
        return join_pieces(options.folder, options.archives)
    except (UserError, OSError) as error:
        print(f"error: {describe_error(error)}", file=sys.stderr)
        return 2


def parse_arguments() -> argparse.Namespace:
    """Return the command and its arguments."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    commands = parser.add_subparsers(dest="command", required=True)
    run = commands.add_parser("run", help="train and translate the runs of a piece")
    run.add_argument("folder", type=Path, help="the experiment")
    run.add_argument("piece", help="a part of the experiment: its name in FOLDER/pieces.yaml")
    run.add_argument(
        "--at-once", type=int, default=1, help="how many trainings share the GPU at a time (%(default)s)"
    )
    join = commands.add_parser("join", help="make the results from the archives that `run` wrote")
    join.add_argument("folder", type=Path, help="the experiment")
    join.add_argument("archives", type=Path, nargs="+", help="archives from FOLDER/pieces of each machine")
    return parser.parse_args()


def run_piece(folder: Path, piece: str, parallel_trainings: int) -> int:
    """Train and translate the runs of a piece, and pack the files that the results need."""
    targets = [f"pieces/{run}.tar" for run in read_piece(folder, piece)]
    environment = dict(os.environ)
    if parallel_trainings > 1:
        environment["NMT_GPUS"] = ""  # an empty pool: no job gets a GPU of its own
        if shutil.which(MPS):
            subprocess.run([MPS, "-d"], check=False)  # fails if it runs already
    return run_snakemake(folder, [*targets, "--resources", f"gpu={parallel_trainings}"], environment)


def read_piece(folder: Path, piece: str) -> list[str]:
    """Return the runs of a piece, as FOLDER/pieces.yaml names them."""
    pieces = read_layer(folder / "pieces.yaml").values
    if piece not in pieces:
        raise UserError(f"{folder}/pieces.yaml: no piece {piece}: expected {', '.join(map(str, pieces))}")
    return list(pieces[piece])


def join_pieces(folder: Path, archives: Sequence[Path]) -> int:
    """Unpack the archives into the experiment, and make its results without any weights."""
    for archive in archives:
        try:
            with tarfile.open(archive) as file:
                file.extractall(folder, filter=filter_with_current_time)
        except tarfile.TarError:
            raise UserError(f"{archive}: no archive of a run, or a damaged one; copy it again") from None
    options = ["results/ro-crate-metadata.json", "--allowed-rules", *RULES_WITHOUT_WEIGHTS]
    return run_snakemake(folder, options, dict(os.environ))


def filter_with_current_time(member: tarfile.TarInfo, folder: str) -> tarfile.TarInfo:
    """Return a member of an archive with the current time.

    With its own time it could be older than the scores of a run that was joined before, which would then stay.
    """
    return tarfile.data_filter(member, folder).replace(mtime=time.time())


def run_snakemake(folder: Path, options: Sequence[str], environment: dict[str, str]) -> int:
    """Run the experiment with these targets and options of Snakemake, and return its exit code."""
    command = [sys.executable, str(ROOT / "workflow" / "run.py"), str(folder), *options]
    return subprocess.run(command, env=environment, check=False).returncode


if __name__ == "__main__":
    sys.exit(main())
