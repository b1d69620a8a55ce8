"""The pages under docs/fidelity name only what there is, and leave out no key that decides a result."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, Literal, get_args, get_origin

import pytest

from nmt.settings import families
from nmt.settings.base import Settings
from pipeline.config.overlays import Merged, read_layer
from pipeline.config.schema import Config
from tests.running import ROOT

PAGES = sorted((ROOT / "docs" / "fidelity").glob("*.md"))
PAPERS = [page.stem for page in PAGES]
OWN = "Settings that the papers do not have"
FIRST = "bahdanau2015"
"""The paper of the root's settings; the others have an experiment of the page's name."""

BLOCKS: dict[str, type[Settings]] = {
    name: Config.model_fields[name].annotation
    for name in (
        "training",
        "decoding",
        "selection",
        "vocabulary",
        "cleaning",
        "tokenization",
        "artifacts",
    )
}
ARCHITECTURES = dict.fromkeys(family.architecture for family in families.FAMILIES.values())
PARTS = [*BLOCKS.items(), *(("architecture", architecture) for architecture in ARCHITECTURES)]
"""The parts of the settings whose every key is on a page."""

TEST = re.compile(r"((?:unit|pipeline|workflow|end_to_end)/[\w/]+\.py)::(\w+)")


@dataclass(frozen=True)
class Row:
    """A row of one of a page's tables: cells by the names of their columns."""

    paper: str
    section: str
    cells: dict[str, str]

    def quoted(self, column: str) -> list[str]:
        """What stands in backticks in a column."""
        return re.findall(r"`([^`]+)`", self.cells.get(column, ""))

    @property
    def name(self) -> str:
        return f"{self.paper}: {next(iter(self.cells.values()))}"


def rows_of(page: Path) -> Iterator[Row]:
    section, header = "", list[str]()
    for line in page.read_text(encoding="utf-8").split("\n"):
        if line.startswith("#"):
            section, header = line.lstrip("# "), []
        elif line.startswith("|"):
            cells = [cell.strip() for cell in line.strip("|").split("|")]
            if not header:
                header = cells
            elif not set(line) <= set("|-"):
                assert len(cells) == len(header), line
                yield Row(page.stem, section, dict(zip(header, cells, strict=True)))


ROWS = [row for page in PAGES for row in rows_of(page)]


@cache
def settings_of(paper: str) -> dict[str, Any]:
    """The root's settings with those of the paper's experiment over them, and every family's `architecture`."""
    layers = [read_layer(ROOT / "config.yaml")]
    if paper != FIRST:
        layers.append(read_layer(ROOT / "experiments" / paper / "config.yaml"))
    values = Merged(layers).values
    known = {key: None for architecture in ARCHITECTURES for key in architecture.model_fields}
    return {**values, "architecture": known | values["architecture"]}


def exists(key: str, values: Any) -> bool:
    """Whether the settings have a dotted key; `*` is every entry of a catalogue."""
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


def test_every_key_on_a_page_exists() -> None:
    for row in ROWS:
        for key in row.quoted("key"):
            assert exists(key, settings_of(row.paper)), f"{row.name}: {key}"


@pytest.mark.parametrize("page", PAGES, ids=PAPERS)
def test_every_test_on_a_page_exists(page: Path) -> None:
    for file, name in TEST.findall(page.read_text(encoding="utf-8")):
        assert (ROOT / "tests" / file).is_file(), file
        names = {dotted.rpartition(".")[2] for dotted in defined(ROOT / "tests" / file)}
        assert name in names, f"{file}::{name}"


def test_nothing_else_stands_where_a_test_is_named() -> None:
    for row in ROWS:
        for quoted in row.quoted("test"):
            assert TEST.fullmatch(quoted), f"{row.name}: {quoted}"


def test_every_row_has_a_test() -> None:
    rows = [row for row in ROWS if row.section != OWN]
    assert len(rows) > 100 and not [row.name for row in rows if not row.quoted("test")]


@pytest.mark.parametrize("paper", PAPERS)
def test_every_function_on_a_page_exists(paper: str) -> None:
    named = [
        quoted
        for row in ROWS
        if row.paper == paper
        for quoted in row.quoted("here")
        if re.fullmatch(r"[a-z_]+(\.\w+)+", quoted) and not exists(quoted, settings_of(paper))
    ]
    assert len(named) > 3
    for name in named:
        parts = name.split(".")
        places = [
            (ROOT.joinpath("nmt", *parts[:end]).with_suffix(".py"), parts[end:])
            for end in range(1, len(parts))
        ]
        assert any(path.is_file() and ".".join(inner) in defined(path) for path, inner in places), name


def ids(part: object) -> str:
    return getattr(part, "__name__", "")


@pytest.mark.parametrize(("block", "keys"), PARTS, ids=ids)
def test_every_key_that_decides_a_result_is_on_a_page(block: str, keys: type[Settings]) -> None:
    named = {key for row in ROWS for key in row.quoted("key")}
    missing = {f"{block}.{key}" for key in keys.model_fields} - named
    assert not missing


@pytest.mark.parametrize(("block", "keys"), PARTS, ids=ids)
def test_every_reading_is_named_with_its_key(block: str, keys: type[Settings]) -> None:
    for key, field in keys.model_fields.items():
        choices = get_args(field.annotation) if get_origin(field.annotation) is Literal else ()
        about = [row for row in ROWS if f"{block}.{key}" in row.quoted("key")]
        named = {quoted for row in about for column in row.cells for quoted in row.quoted(column)}
        if len(choices) > 1:
            assert set(choices) <= named, f"{block}.{key}"
