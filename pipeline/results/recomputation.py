"""Recomputation of the tables of a replication package by the workflow, and their comparison.

The package comes from somebody else, so it must not decide which file is read or what is run. Its plain files are
copied into a temporary experiment, whose settings are the package's without any path or address. Snakemake makes the
target `tables` there. Entries of corpora and archives that this checkout has, too, are the checkout's.
"""

from __future__ import annotations

import importlib.util
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from itertools import zip_longest
from pathlib import Path, PurePosixPath
from typing import Any

import yaml

from nmt.io.text_files import read_lines
from pipeline.config import snapshot
from pipeline.config.checkout import REPOSITORY, for_snakemake
from pipeline.config.overlays import read_layer
from pipeline.config.schema import Config
from pipeline.results.package import ReplicationPackage, is_part

PAPERS = REPOSITORY / "workflow" / "papers"
_GIVEN = "given"
"""The folder of the package's copy in the temporary experiment."""
_SHOWN = 120
"""Letters of a line that a problem quotes."""
_ERROR = re.compile(r"(?:nmt: )?error: (.+)|((?:\w+\.)*\w*(?:Error|Exception)(?:: .*)?)")
"""The form of the last line of a failed job, or of the check of settings."""


@dataclass(frozen=True)
class Recomputed:
    """The result of a recomputation.

    problems: one line each. tables: names of the files made, below `results`. text: whether the test text was made
    again. complete: whether all was made that the package's settings ask for.
    """

    problems: list[str]
    tables: list[str]
    text: bool
    complete: bool = False


def missing_workflow() -> str | None:
    """Return why nothing can be made again here, if so."""
    if not (REPOSITORY / "Snakefile").is_file():
        return f"no workflow beside the package nmt ({REPOSITORY}): run from a clone of its repository"
    return None if importlib.util.find_spec("snakemake") else "Snakemake is not installed"


def recompute(
    results: Path, files: Collection[str], config: Config, experiment: Path, archives: Path | None, cores: int
) -> Recomputed:
    """Make the tables again, and the test text if its source is at hand, and compare them.

    Args:
        results: the folder with the package.
        files: names of the plain files in it; nothing else there is read.
        config: the package's settings.
        experiment: an empty folder.
        archives: where downloaded archives lie; text that the project's grammar wrote needs none.
        cores: for Snakemake.
    """
    _copy(results, files, experiment / _GIVEN)
    (experiment / "config.yaml").write_text(yaml.safe_dump(_settings(config, files)), encoding="utf-8")
    problems = list(_endless(config, results, files))
    texts = {} if problems else _test_text(config, experiment, archives, files)
    problems += _snakemake(experiment, ["tables", *texts.values()], cores, results)
    complete = not problems
    for name, source in texts.items():
        if (experiment / source).is_file():
            problems += difference(results / name, experiment / source, "comes from its source")
    made = experiment / "results"
    tables = sorted(path.relative_to(made).as_posix() for path in made.rglob("*") if path.is_file())
    problems += _table_differences(results, files, made, tables)
    return Recomputed(problems, tables, bool(texts), complete)


def _copy(results: Path, files: Collection[str], target: Path) -> None:
    for name in filter(is_part, files):
        (target / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(results / name, target / name, follow_symlinks=False)


def _settings(config: Config, files: Collection[str]) -> dict[str, Any]:
    """Return the package's settings but for what names a file or an address."""
    values = snapshot.published(config)
    values.pop("moses", None)  # its translations are among the files
    values |= {"data_from": None, "released": {"models": None, "results": _GIVEN}}
    values["artifacts"]["gold_alignments"] = None
    for key, set_ in (("moses_translations", "test"), ("moses_dev_translations", "dev")):
        moses = ReplicationPackage(Path()).given("moses", set_).as_posix()
        values["artifacts"][key] = f"{_GIVEN}/{moses}" if moses in files else None
    # whose rescored translations are among those given
    values["n_best_lists"] = dict.fromkeys(config.n_best_lists, _GIVEN)
    ours = read_layer(REPOSITORY / "config.yaml").values
    for catalogue in ("archives", "corpora"):
        values[catalogue] = {
            name: entry for name, entry in values[catalogue].items() if name not in ours[catalogue]
        }
    return values


def _endless(config: Config, results: Path, files: Collection[str]) -> Iterator[str]:
    """Yield a line if the grammar would write more or fewer sentences than the test text has, perhaps for ever."""
    corpus, test = config.use.test[0], ReplicationPackage(Path()).test(config.languages.source).as_posix()
    grammar = config.corpora[corpus].grammar
    if grammar is None or test not in files:
        return
    lines = sum(1 for _ in read_lines(results / test))
    if grammar.pairs != lines:
        stated = f"{ReplicationPackage(results).configuration}: corpora.{corpus}.grammar.pairs is {grammar.pairs:,}"
        yield f"{stated}, but {results / test} has {lines:,} lines; it is not made again"


def _test_text(
    config: Config, experiment: Path, archives: Path | None, files: Collection[str]
) -> dict[str, str]:
    """Return the package's files of test text, each with the file that the workflow makes of its source."""
    corpus = config.use.test[0]
    entry = config.corpora[corpus]
    for side in entry.sides.values():
        place = config.archives[side.archive].path if side.archive else None
        if place is None or not _linked(place, archives, experiment / "data" / "archives"):
            return {}
    package = ReplicationPackage(Path())
    sides = (config.languages.source, config.languages.target)
    texts = {package.test(side): f"data/tokens/{corpus}/0.{side}.zst" for side in sides}
    texts |= {package.raw_reference(sides[1]): f"data/raw/{corpus}/0.{sides[1]}.zst"}
    texts |= {package.gold: f"data/raw/{corpus}/0.align.zst"} if entry.grammar else {}
    return {path.as_posix(): made for path, made in texts.items() if path.as_posix() in files}


def _linked(name: str, archives: Path | None, folder: Path) -> bool:
    """Link an archive into a folder. Return whether it is there."""
    if archives is None or ".." in PurePosixPath(name).parts or not (archives / name).is_file():
        return False
    link = folder / name
    link.parent.mkdir(parents=True, exist_ok=True)
    if not link.exists():
        link.symlink_to((archives / name).resolve())
    return True


def _snakemake(experiment: Path, targets: Sequence[str], cores: int, results: Path) -> list[str]:
    """Let the checkout's Snakemake make targets. Return a line per error."""
    command = [sys.executable, "-m", "snakemake", "--snakefile", str(REPOSITORY / "Snakefile")]
    command += ["--directory", str(experiment), "--workflow-profile", "none", "--cores", str(cores)]
    command += ["--keep-going", "--nocolor", "--quiet", "all", "--", *targets]
    own = {name: value for name, value in os.environ.items() if not name.startswith("SNAKEMAKE")}
    ended = subprocess.run(
        command,
        cwd=experiment,
        env=own | for_snakemake(experiment) | {"PYTHONPATH": str(REPOSITORY)},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        errors="replace",
    )
    if ended.returncode == 0:
        return []
    found = [match for line in ended.stdout.splitlines() if (match := _ERROR.fullmatch(line.strip()))]
    said = dict.fromkeys(match[1] or match[2] for match in found) or {
        f"Snakemake ended with {ended.returncode}": None
    }
    return [f"cannot be made again: {line.replace(f'{_GIVEN}/', f'{results}/')}" for line in said]


def _table_differences(results: Path, files: Collection[str], made: Path, tables: Sequence[str]) -> list[str]:
    """Return a line for each table that differs: of its forms the first, which is the CSV."""
    problems: dict[str, str] = {}
    for name in tables:
        table = name.rpartition(".")[0]
        if table in problems:
            continue
        if name not in files:
            problems[table] = f"{results / name}: missing, but the settings ask for it"
        elif (results / name).read_bytes() != (made / name).read_bytes():
            found = difference(results / name, made / name, "follows")
            same = (
                f"; {table}.csv is the same" if f"{table}.csv" in tables and not name.endswith(".csv") else ""
            )
            problems[table] = (
                f"{(found or [f'{results / name}: other line ends than what follows'])[0]}{same}"
            )
    return list(problems.values())


def difference(written: Path, made: Path, follows: str) -> list[str]:
    """Return a line about the first line that differs in two files of text; none if the files are equal."""
    lines = zip_longest(read_lines(written), read_lines(made))
    pairs = [(number, *pair) for number, pair in enumerate(lines, start=1) if pair[0] != pair[1]]
    if not pairs:
        return []
    number, left, right = pairs[0]
    more = f" (and {len(pairs) - 1} more lines differ)" if len(pairs) > 1 else ""
    return [f"{written}, line {number}: {_quoted(left)} is written, {_quoted(right)} {follows}{more}"]


def _quoted(line: str | None) -> str:
    if line is None:
        return "nothing"
    return repr(line if len(line) <= _SHOWN else f"{line[:_SHOWN]}...")
