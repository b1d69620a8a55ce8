"""Whether results are still what was recorded, and whether the numbers in the tables follow from the parts kept.

Sums find whatever was altered since the record was made. They say nothing where somebody altered the record too; so the
tables are made again, by the code that made them, and compared cell by cell, and the settings are held against those
that each model was trained with and the translations were decoded with.
"""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import zip_longest
from pathlib import Path
from typing import Any

from nmt.config import snapshot
from nmt.config.flatten import flatten
from nmt.config.runs import run_settings, runs_of
from nmt.config.schema import Config
from nmt.decoding import sidecar
from nmt.errors import UserError
from nmt.io.checksums import read as read_sums
from nmt.io.environment import code, packages, release_name
from nmt.io.files import read_json, sha256
from nmt.publish.rebuild import COMPARISON, ERROR_RATES, TABLES, Remake, Verb
from nmt.publish.replication_package import MODES, Parts
from nmt.publish.ro_crate import RECORD, REPORT

SWEEP = "decoding_sweep.sha256"
"""The sums of the files of the sweep."""
NOT_RECORDED = (RECORD, "README.md")
"""What a results folder may hold beside what the record names."""


@dataclass(frozen=True)
class Verdict:
    """What was found.

    problems: a line each, none if all is well; notes: what is worth knowing but is no problem; checked: in words.
    """

    problems: list[str]
    notes: list[str]
    checked: str


def verify(results: Path, scratch: Path, verb: Verb) -> Verdict:
    """Check the sums, the settings and the tables of a results folder.

    Args:
        results: the folder.
        scratch: an empty folder in which the tables are made again.
        verb: runs a verb of the command line.

    Raises:
        UserError: there is no record, or it is none.
    """
    sums = sweep_sums(results) | recorded_sums(results / RECORD)
    found = _Findings(problems=list(altered(results, sums)))
    with found.failing("the settings cannot be checked"):
        _check_settings(results, found)
    tables = _check_tables(results, scratch, verb, found)
    found.notes += [f"{results / name}: not in the record" for name in unrecorded(results, sums)]
    with found.failing(f"{results / RECORD} does not say what made the tables"):
        found.notes += other_program(results / RECORD)
    checked = (
        f"{results}: {len(sums)} files have the sums of their record (itself {sha256(results / RECORD)}); "
        f"{', '.join(tables)} follow from the parts kept"
    )
    return Verdict(found.problems, found.notes, checked)


@dataclass
class _Findings:
    """What has been found so far."""

    problems: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)

    @contextmanager
    def failing(self, what: str) -> Iterator[None]:
        """Whatever goes wrong inside is a problem like others: altered parts may be of any shape."""
        try:
            yield
        except UserError as error:
            self.problems.append(f"{what}: {error}")
        except Exception as error:
            self.problems.append(f"{what}: {type(error).__name__}: {error}")


def _check_settings(results: Path, found: _Findings) -> None:
    """Hold the settings against those that models were trained and translations decoded with.

    Released models and translations were made with settings of their own: what differs is worth a note there.
    """
    parts = Parts(results)
    config = snapshot.read(parts.configuration)
    theirs = config.released.models or config.released.results
    for difference in other_settings(config, parts):
        (found.notes if theirs else found.problems).append(difference)
    for difference in other_decoding(config, parts):
        (found.notes if config.released.results else found.problems).append(difference)
    for run in runs_of(config, config.use.models):
        for mode in MODES:
            with found.failing("translations"):
                sidecar.refuse_other(parts.translations(run, mode))


def _check_tables(results: Path, scratch: Path, verb: Verb, found: _Findings) -> list[str]:
    """Make the tables again and compare them; returns their names."""
    parts = Parts(results)
    tables: list[str] = []
    with found.failing("the tables cannot be made again"):
        remake = Remake(snapshot.read(parts.configuration), parts, scratch, verb)
        tables = remake.artifacts(TABLES)
        for name in tables:
            for made in remake.make(name):
                found.problems += table_differences(results / made.name, made)
        found.problems += table_differences(results / COMPARISON, scratch / COMPARISON)
    with found.failing("the alignment error rates cannot be made again"):
        remake = Remake(snapshot.read(parts.configuration), parts, scratch, verb)
        written = {path.stem for path in (results / ERROR_RATES).glob("*.json")}
        for run in sorted({*written, *remake.measured_runs()}):
            made = remake.error_rate(run)
            found.problems += table_differences(results / ERROR_RATES / made.name, made)
            tables += [ERROR_RATES] * (ERROR_RATES not in tables)
    return tables


def recorded_sums(record: Path) -> dict[str, str]:
    """SHA-256 of every file of the results, by its name, as the record has it."""
    files = [entity for entity in _graph(record) if entity.get("@type") == "File" and "sha256" in entity]
    if not files:
        raise UserError(f"{record}: names no file with a sum; make it again")
    if not all(isinstance(entity.get(key), str) for entity in files for key in ("@id", "sha256")):
        raise UserError(f"{record}: a file whose `@id` or `sha256` is no text; make it again")
    return {entity["@id"]: entity["sha256"] for entity in files}


def sweep_sums(results: Path) -> dict[str, str]:
    """SHA-256 of the files of the sweep, which is made apart from the rest; none where there was none."""
    path = results / SWEEP
    return {**read_sums(path), SWEEP: sha256(path)} if path.is_file() else {}


def _graph(record: Path) -> list[dict[str, Any]]:
    value = read_json(record)
    graph = value.get("@graph") if isinstance(value, dict) else None
    if not isinstance(graph, list) or not all(isinstance(entity, dict) for entity in graph):
        raise UserError(f"{record}: no RO-Crate: expected `@graph`, a list of objects; make it again")
    return graph


def altered(results: Path, sums: dict[str, str]) -> Iterator[str]:
    """A line for each file that is missing or has another sum than the record says."""
    for name, expected in sums.items():
        path = results / name
        if not path.resolve().is_relative_to(results.resolve()):
            yield f"{results / RECORD}: names {name!r}, which does not lie in {results}"
        elif not path.is_file():
            yield f"{path}: missing, but in the record"
        elif (found := sha256(path)) != expected:
            yield f"{path}: altered: sha256 {found[:12]}..., the record says {expected[:12]}..."


def unrecorded(results: Path, sums: dict[str, str]) -> list[str]:
    """Files that the record does not name."""
    found = (path.relative_to(results).as_posix() for path in results.rglob("*") if path.is_file())
    return sorted(set(found) - set(sums) - set(NOT_RECORDED))


def other_program(record: Path) -> Iterator[str]:
    """A line for each package, and one for the code, if its version is another here than where the tables were made."""
    entities = {entity.get("@id"): entity for entity in _graph(record)}
    program = entities[entities[REPORT]["instrument"]["@id"]]
    if (there := program["softwareVersion"]) != (ours := release_name(code())):
        yield f"the tables were made with nmt {there}, here is nmt {ours}: numbers may differ for that"
    here = packages()
    for reference in program.get("softwareRequirements", []):
        package = entities[reference["@id"]]
        name, version = package["name"], package["softwareVersion"]
        if here.get(name, version) != version:
            yield f"the tables were made with {name} {version}, here is {here[name]}: numbers may differ for that"


def other_settings(config: Config, parts: Parts) -> Iterator[str]:
    """A line for each setting in which a run's own settings differ from the configuration."""
    for run in runs_of(config, config.use.models).values():
        path = parts.of_run(run.name, "settings.json")
        written = flatten(run_settings(config, run).model_dump(mode="json"))
        trained = flatten(read_json(path))
        for key in sorted(written.keys() | trained.keys()):
            if written.get(key) != trained.get(key):
                says = f"{key} of {run.name} is {written.get(key)!r}"
                yield f"{parts.configuration}: {says}, but {path} says {trained.get(key)!r}"


def other_decoding(config: Config, parts: Parts) -> Iterator[str]:
    """A line for each setting of the search that is not the one with which translations were made."""
    made = {
        parts.making(run, mode): sidecar.read(parts.translations(run, mode))["settings"]
        for run in runs_of(config, config.use.models)
        for mode in MODES
    }
    for key, value in config.decoding.model_dump(mode="json").items():
        for path, settings in made.items():
            if settings.get(key) != value:
                says = f"decoding.{key} is {value!r}"
                yield f"{parts.configuration}: {says}, but {path} says {settings.get(key)!r}"
                break


def table_differences(written: Path, made: Path) -> Iterator[str]:
    """A line for each cell of a table (or line of its notes) that differs from what follows from the parts."""
    if not written.is_file():
        yield f"{written}: missing, but the settings ask for it"
        return
    if written.read_bytes() == made.read_bytes():
        return
    texts = [path.read_text(encoding="utf-8", errors="replace") for path in (written, made)]
    found = list(_CELLS[written.suffix](*texts))
    for where, is_written, follows in found:
        yield f"{written}, {where}: {_quoted(is_written)} is written, {_quoted(follows)} follows"
    if not found:
        yield f"{written}: differs from what follows in spaces or line ends"


def _quoted(text: str | None) -> str:
    return "nothing" if text is None else repr(text)


Difference = tuple[str, str | None, str | None]
"""Where, what is written, what follows."""


def _csv_differences(written: str, made: str) -> Iterator[Difference]:
    tables = [list(csv.reader(io.StringIO(text))) for text in (written, made)]
    headers = tables[1][0] if tables[1] else []
    yield from _row_differences(tables[0], tables[1], headers, first=1)


def _markdown_differences(written: str, made: str) -> Iterator[Difference]:
    yield from _line_differences(written, made, "|")


def _tex_differences(written: str, made: str) -> Iterator[Difference]:
    yield from _line_differences(written, made, "&")


def _line_differences(written: str, made: str, separator: str) -> Iterator[Difference]:
    rows = [[_cells(line, separator) for line in text.split("\n")] for text in (written, made)]
    headers = next((row for row in rows[1] if len(row) > 1), [])
    yield from _row_differences(rows[0], rows[1], headers, first=1)


def _cells(line: str, separator: str) -> list[str]:
    cells = [cell.strip() for cell in line.removesuffix(r"\\").split(separator)]
    return cells[1:-1] if separator == "|" and len(cells) > 2 else cells


def _row_differences(
    written: Sequence[list[str]], made: Sequence[list[str]], headers: list[str], first: int
) -> Iterator[Difference]:
    for number, (left, right) in enumerate(zip_longest(written, made), start=first):
        if left is None or right is None or len(left) != len(right):
            yield f"line {number}", _joined(left), _joined(right)
            continue
        for column, (cell, expected) in enumerate(zip(left, right, strict=True)):
            if cell != expected:
                yield _place(number, right, headers, column), cell, expected


def _joined(row: list[str] | None) -> str | None:
    return None if row is None else " ".join(row)


def _place(number: int, row: Sequence[str], headers: Sequence[str], column: int) -> str:
    """Where a cell stands: a row by its first cell, a column by its header; prose by its line."""
    if len(row) == 1 or len(row) != len(headers):
        return f"line {number}"
    return f"row {row[0]}, {headers[column]}"


def _json_differences(written: str, made: str) -> Iterator[Difference]:
    try:
        trees = [flatten({"": json.loads(text)}) for text in (written, made)]
    except json.JSONDecodeError as error:
        yield f"line {error.lineno}", "no JSON", "JSON"
        return
    for key in sorted(trees[0].keys() | trees[1].keys()):
        is_written, follows = (tree.get(key) for tree in trees)
        if is_written != follows:
            yield key.removeprefix("."), json.dumps(is_written), json.dumps(follows)


_CELLS = {
    ".csv": _csv_differences,
    ".md": _markdown_differences,
    ".tex": _tex_differences,
    ".json": _json_differences,
}
