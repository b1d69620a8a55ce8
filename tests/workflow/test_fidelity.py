"""docs/fidelity.md names only what there is, and leaves out no key that decides a result."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, Literal, get_args, get_origin

import pytest
import yaml

from nmt.config import families, schema
from nmt.config.base import Settings
from tests.running import ROOT

PAGE = (ROOT / "docs" / "fidelity.md").read_text(encoding="utf-8")
CONFIG: dict[str, Any] = yaml.safe_load((ROOT / "config.yaml").read_text(encoding="utf-8"))
BLOCKS: dict[str, type[Settings]] = {
    "architecture": families.GatedArchitecture,
    "training": schema.Training,
    "decoding": schema.Decoding,
    "overlap": schema.Overlap,
    "selection": schema.Selection,
    "vocabulary": schema.VocabularySettings,
    "cleaning": schema.Cleaning,
    "tokenization": schema.Tokenization,
    "artifacts": schema.Artifacts,
}
"""The parts of the settings whose every key is on the page."""

TEST = re.compile(r"((?:unit|workflow|end_to_end)/[\w/]+\.py)::(\w+)")


@dataclass(frozen=True)
class Row:
    """A row of one of the page's tables: cells by the names of their columns."""

    section: str
    cells: dict[str, str]

    def quoted(self, column: str) -> list[str]:
        """What stands in backticks in a column."""
        return re.findall(r"`([^`]+)`", self.cells.get(column, ""))

    @property
    def name(self) -> str:
        return next(iter(self.cells.values()))


def rows() -> Iterator[Row]:
    section, header = "", list[str]()
    for line in PAGE.split("\n"):
        if line.startswith("#"):
            section, header = line.lstrip("# "), []
        elif line.startswith("|"):
            cells = [cell.strip() for cell in line.strip("|").split("|")]
            if not header:
                header = cells
            elif not set(line) <= set("|-"):
                assert len(cells) == len(header), line
                yield Row(section, dict(zip(header, cells, strict=True)))


ROWS = list(rows())


def exists(key: str, values: Any = CONFIG) -> bool:
    """Whether a dotted key is in config.yaml; `*` is every entry of a catalogue."""
    part, _, rest = key.partition(".")
    if not isinstance(values, dict):
        return False
    if part == "*":
        return all(exists(rest, inner) for inner in values.values())
    return part in values and (not rest or exists(rest, values[part]))


@cache
def defined(path: Path) -> set[str]:
    """Dotted names of a module's functions, classes and methods."""
    found = set()
    for node in ast.parse(path.read_text(encoding="utf-8")).body:
        if isinstance(node, ast.FunctionDef | ast.ClassDef):
            found.add(node.name)
        if isinstance(node, ast.ClassDef):
            methods = [inner.name for inner in node.body if isinstance(inner, ast.FunctionDef)]
            found |= {f"{node.name}.{method}" for method in methods}
    return found


def test_the_page_has_its_tables() -> None:
    assert {row.section for row in ROWS} == {
        "Equations",
        "Data, sizes, start values, training, artifacts",
        "Where the paper leaves room",
        "Keys that are ours",
    }
    assert len(ROWS) > 80


def test_every_key_on_the_page_exists() -> None:
    for row in ROWS:
        for key in row.quoted("key"):
            assert exists(key), f"{row.name}: {key}"


def test_every_test_on_the_page_exists() -> None:
    for file, name in TEST.findall(PAGE):
        assert (ROOT / "tests" / file).is_file(), file
        names = {dotted.rpartition(".")[2] for dotted in defined(ROOT / "tests" / file)}
        assert name in names, f"{file}::{name}"


def test_nothing_else_stands_where_a_test_is_named() -> None:
    for row in ROWS:
        for quoted in row.quoted("test"):
            assert TEST.fullmatch(quoted), f"{row.name}: {quoted}"


@pytest.mark.parametrize("row", [row for row in ROWS if "ours" not in row.section], ids=lambda row: row.name)
def test_every_row_has_a_test(row: Row) -> None:
    assert row.quoted("test")


def test_every_function_on_the_page_exists() -> None:
    named = [
        quoted
        for row in ROWS
        for quoted in row.quoted("here")
        if re.fullmatch(r"[a-z_]+(\.\w+)+", quoted) and not exists(quoted)
    ]
    assert len(named) > 20
    for name in named:
        parts = name.split(".")
        places = [
            (ROOT.joinpath("nmt", *parts[:end]).with_suffix(".py"), parts[end:])
            for end in range(1, len(parts))
        ]
        assert any(path.is_file() and ".".join(inner) in defined(path) for path, inner in places), name


@pytest.mark.parametrize("block", BLOCKS)
def test_every_key_that_decides_a_result_is_on_the_page(block: str) -> None:
    named = {key for row in ROWS for key in row.quoted("key")}
    missing = {f"{block}.{key}" for key in BLOCKS[block].model_fields} - named
    assert not missing


@pytest.mark.parametrize("block", BLOCKS)
def test_every_reading_is_named_with_its_key(block: str) -> None:
    for key, field in BLOCKS[block].model_fields.items():
        choices = get_args(field.annotation) if get_origin(field.annotation) is Literal else ()
        about = [row for row in ROWS if f"{block}.{key}" in row.quoted("key")]
        named = {quoted for row in about for column in row.cells for quoted in row.quoted(column)}
        if len(choices) > 1:
            assert set(choices) <= named, f"{block}.{key}"
