"""Put all that a version publishes into one new folder, with checksums. `make release` calls this.

Usage: python -m workflow.release FOLDER EXPERIMENT...

The folder gets the package's wheel and source archive, which `twine check --strict` has read, and of each finished
experiment its models (as `snakemake releases` packs them), its results and its playground. Nothing is trained: an
experiment that is not finished is an error. SHA256SUMS names every file; its format is that of `sha256sum -c`.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

from nmt.errors import UserError
from nmt.io.files import sha256

ROOT = Path(__file__).resolve().parents[1]
UV = ROOT / ".uv" / "uv"
SUMS = "SHA256SUMS"
TWINE = "twine@6.2.0"
SNAKEMAKE = (sys.executable, "-m", "snakemake")


def main(arguments: Sequence[str]) -> int:
    """Make the folder. Return 2 after a line on standard error if something is missing."""
    if len(arguments) < 2:
        print("usage: python -m workflow.release FOLDER EXPERIMENT...", file=sys.stderr)
        return 2
    folder, *experiments = map(Path, arguments)
    try:
        if folder.exists():
            raise UserError(f"{folder}: is there already; name a new folder, or remove it")
        unfinished = [place for place in experiments if not (place / "results" / "report.html").is_file()]
        if unfinished:
            raise UserError(f"{unfinished[0]}: not finished; make EXPERIMENT={unfinished[0]} run")
        names = [place.resolve().name for place in experiments]
        if twice := {name for name in names if names.count(name) > 1}:
            raise UserError(
                f"{twice.pop()}: two experiments of this name, one would replace the other; rename one"
            )
        making = folder.with_name(f".{folder.name}.part")
        shutil.rmtree(making, ignore_errors=True)
        making.mkdir(parents=True)
        add_package(making)
        for experiment in experiments:
            add_experiment(making, experiment)
        write_sums(making)
        making.rename(folder)
    except (UserError, OSError) as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    for path in sorted(folder.iterdir()):
        print(f"{path.stat().st_size / 1e6:8.1f} MB  {path}")
    return 0


def add_package(folder: Path) -> None:
    """Build wheel and source archive, and check them as PyPI would."""
    run(UV, "build", "--quiet", "--no-create-gitignore", "--out-dir", folder.resolve(), ROOT)
    built = [path.resolve() for path in folder.iterdir()]
    run(UV, "tool", "run", "--quiet", TWINE, "check", "--strict", *built)


def add_experiment(folder: Path, experiment: Path) -> None:
    """Copy an experiment's packed models, its results in one archive, and its playground."""
    name = experiment.resolve().name
    places = ("--snakefile", ROOT / "Snakefile", "--directory", experiment)
    if "rule train" in run(*SNAKEMAKE, *places, "--dry-run", "releases"):
        raise UserError(f"{experiment}: models are not as its settings say; make EXPERIMENT={experiment} run")
    run(*SNAKEMAKE, *places, "--cores", "1", "--quiet", "all", "--", "releases")
    for archive in sorted((experiment / "releases").glob("*.tar.zst")):
        shutil.copy(archive, folder / f"{name}-{archive.name}")
    shutil.make_archive(str(folder / f"{name}-results"), "zip", experiment, "results")
    playground = experiment / "results" / "playground.html"
    if playground.is_file():
        shutil.copy(playground, folder / f"{name}-playground.html")


def write_sums(folder: Path) -> None:
    """List the checksum of every file."""
    lines = [f"{sha256(path)}  {path.name}\n" for path in sorted(folder.iterdir())]
    (folder / SUMS).write_text("".join(lines), encoding="utf-8")


def run(*command: str | Path) -> str:
    """Run a program. A `UserError` has its output if it failed."""
    words = list(map(str, command))
    done = subprocess.run(
        words,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
    )
    if done.returncode:
        raise UserError(f"{' '.join(words[:4])} failed:\n{done.stdout.strip()}")
    return done.stdout


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
