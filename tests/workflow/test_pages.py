"""What pages name exists: other pages; under docs/fidelity keys of the settings, tests, functions of the library."""

import ast
import re
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from nmt.settings import model_types
from nmt.settings.base import Settings
from pipeline.config.layers import find_layers, load_config
from pipeline.config.schema import Config
from tests.running import ROOT

PAGES = sorted((ROOT / "docs" / "fidelity").glob("*.md"))
FIRST = "bahdanau2015"
"""The paper of the root's settings; the others have an experiment of the page's name."""
ARCHITECTURE_KEYS = {
    f"architecture.{key}"
    for model_type in model_types.MODEL_TYPES.values()
    for key in model_type.architecture.model_fields
}
"""The keys of all model types, in any block."""


def settings_of(paper: str) -> Config:
    """The settings of the paper's experiment."""
    return load_config(find_layers(ROOT / "experiments" / (paper if paper != FIRST else "paper")))


def has_key(key: str, values: Any) -> bool:
    """Whether the settings have a dotted key; `*` is every entry of a catalogue."""
    part, _, rest = key.partition(".")
    if part == "*":
        return all(has_key(rest, inner) for inner in values.values())
    if isinstance(values, Settings):
        values = {name: getattr(values, name) for name in type(values).model_fields}
    if key in ARCHITECTURE_KEYS:
        return True
    return isinstance(values, dict) and part in values and (not rest or has_key(rest, values[part]))


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


def is_function(name: str) -> bool:
    """Whether the library has a function or class of this dotted name."""
    parts = name.split(".")
    ends = range(1, len(parts))
    places = [(ROOT.joinpath("nmt", *parts[:end]).with_suffix(".py"), parts[end:]) for end in ends]
    return any(path.is_file() and ".".join(inner) in defined(path) for path, inner in places)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_what_a_page_names_exists(page):
    text, settings = page.read_text(encoding="utf-8"), settings_of(page.stem)
    tests = re.findall(r"`((?:unit|pipeline|workflow|end_to_end)/[\w/]+\.py)::(\w+)`", text)
    assert len(tests) > 10
    for file, name in tests:
        path = ROOT / "tests" / file
        names = {dotted.rpartition(".")[2] for dotted in defined(path)} if path.is_file() else set()
        assert name in names, f"{file}::{name}"
    named = set(re.findall(r"`([a-z_]+(?:\.[\w*]+)+)`", "\n".join(re.findall(r"^\|.*", text, re.MULTILINE))))
    assert len(named) > 3
    assert [name for name in named if not (has_key(name, settings) or is_function(name))] == []


def test_links_between_pages_lead_somewhere():
    folders = (ROOT, ROOT / "docs", ROOT / "results", ROOT / "benchmarks")
    for page in (page for folder in folders for page in folder.glob("*.md") if page.name != "CHANGELOG.md"):
        for link in re.findall(
            r"\]\((?!https?:|\.\./\.\./actions)([^)\s]+)\)", page.read_text(encoding="utf-8")
        ):
            path, _, anchor = link.partition("#")
            target = (page.parent / path).resolve() if path else page
            assert target.exists(), f"{page}: {link}"
            headings = (
                re.findall(r"^#+ (.+)$", target.read_text(encoding="utf-8"), re.MULTILINE) if anchor else []
            )
            anchors = [re.sub(r"[^\w -]", "", heading.lower()).replace(" ", "-") for heading in headings]
            assert not anchor or anchor in anchors, f"{page}: {link}"
