"""Draw docs/pictures/structure.svg: the stages of the paper's data, and the packages in their layers.

Stages and what they read come from the workflow's own list of jobs, packages from import-linter's layers in
pyproject.toml, and what each is for from its docstring.
"""

from __future__ import annotations

import ast
import re
import sys
import tomllib
from collections.abc import Mapping
from graphlib import TopologicalSorter
from html import escape
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from pipeline.monitor.jobs import JobList, list_jobs  # noqa: E402

TARGET = ROOT / "docs" / "pictures" / "structure.svg"
_WIDTH, _MARGIN, _TOP = 700, 20, 40
_BOX, _HIGH, _COLUMN, _STEP = 150, 34, 190, 48
"""Sizes of a stage: width, height, distances between columns and between rows."""
_NAME, _LINE = 110, 24
"""Sizes of a package: width of its name, height of a line."""
_STYLE = """
text { font: 13px system-ui, 'DejaVu Sans', sans-serif; fill: #1d2126 }
.soft { font-size: 11px; fill: #5d6670 }
.head { font-weight: 600; font-size: 15px }
rect { fill: #f2f6fb; stroke: #0b62b8 }
.paper { fill: #fff; stroke: none }
path { fill: none; stroke: #5d6670; marker-end: url(#tip) }
marker path { fill: #5d6670; stroke: none; marker-end: none }
"""
_TIP = '<marker id="tip" viewBox="0 0 8 8" refX="8" refY="4" markerWidth="7" markerHeight="7" orient="auto">'


def drawing(listed: JobList) -> str:
    """Return the drawing as SVG.

    Args:
        listed: the jobs whose stages are drawn.
    """
    stages, middle = _stages(listed)
    packages, bottom = _packages(middle)
    size = f'viewBox="0 0 {_WIDTH} {bottom}" width="{_WIDTH}" height="{bottom}"'
    return "\n".join(
        [
            f'<svg xmlns="http://www.w3.org/2000/svg" {size}>',
            f"<style>{_STYLE}</style>",
            f'<defs>{_TIP}<path d="M0 0L8 4L0 8z"/></marker></defs>',
            '<rect class="paper" width="100%" height="100%"/>',
            *stages,
            *packages,
            "</svg>\n",
        ]
    )


# --- the flow of data ---------------------------------------------------------


def _stages(listed: JobList) -> tuple[list[str], int]:
    """Return the elements of the drawing and its end."""
    sources = reduced(stage_sources(listed))
    places = _places(sources)
    drawn = [_text(_MARGIN, 24, "The paper's data, stage by stage", "head")]
    drawn += [_arrow(places[source], places[stage]) for stage, found in sources.items() for source in found]
    for stage, (level, column) in places.items():
        x, y = _MARGIN + column * _COLUMN, _TOP + level * _STEP
        drawn.append(f'<rect x="{x}" y="{y}" width="{_BOX}" height="{_HIGH}" rx="5"/>')
        drawn += [_text(x + 8, y + 15, stage), _text(x + 8, y + 28, _made(listed, stage), "soft")]
    return drawn, _TOP + _STEP * (1 + max(level for level, _ in places.values()))


def stage_sources(listed: JobList) -> dict[str, set[str]]:
    """Return for each stage the stages whose files its jobs read."""
    stages = {job.log: job.stage for job in listed.jobs}
    found: dict[str, set[str]] = {stage: set() for stage in listed.stages}
    for log, sources in listed.sources.items():
        found[stages[log]] |= {stages[source] for source in sources} - {stages[log]}
    return found


def reduced(sources: Mapping[str, set[str]]) -> dict[str, list[str]]:
    """Return the sources without those that another source is made from: an arrow through the other one shows them."""
    before: dict[str, set[str]] = {}
    for stage in TopologicalSorter(sources).static_order():
        before[stage] = sources[stage].union(*(before[source] for source in sources[stage]))
    return {
        stage: sorted(source for source in found if not any(source in before[other] for other in found))
        for stage, found in sources.items()
    }


def _places(sources: Mapping[str, list[str]]) -> dict[str, tuple[int, int]]:
    """Return level and column of each stage: below its sources, in the first column that no stage or arrow takes."""
    places: dict[str, tuple[int, int]] = {}
    taken: set[tuple[int, int]] = set()
    level: dict[str, int] = {}
    for stage in TopologicalSorter(sources).static_order():
        level[stage] = max((level[source] + 1 for source in sources[stage]), default=0)
    readers = {stage: [other for other in sources if stage in sources[other]] for stage in sources}

    def following(stage: str) -> int:
        return 1 + max(map(following, readers[stage]), default=0)

    for stage in sorted(level, key=lambda stage: (level[stage], -following(stage), stage)):
        end = max((level[reader] for reader in readers[stage]), default=level[stage] + 1)
        levels = range(level[stage], end)
        column = next(
            column for column in range(len(sources)) if not {(row, column) for row in levels} & taken
        )
        taken |= {(row, column) for row in levels}
        places[stage] = (level[stage], column)
    return places


def _arrow(source: tuple[int, int], stage: tuple[int, int]) -> str:
    """Draw an arrow down in the source's column, then over to the stage's."""
    (above, left), (below, right) = source, stage
    x, to = (_MARGIN + column * _COLUMN + _BOX // 2 for column in (left, right))
    start, end = _TOP + above * _STEP + _HIGH, _TOP + below * _STEP
    return f'<path d="M{x} {start}V{end - (_STEP - _HIGH) // 2}H{to}V{end}"/>'


def _made(listed: JobList, stage: str) -> str:
    """Return the folder of the stage's last files."""
    parts = Path(listed.stages[stage][-1].outputs[0]).parts
    return "/".join(parts[:2] if parts[0] == "data" else parts[:1])


# --- the packages -------------------------------------------------------------


def _packages(y: int) -> tuple[list[str], int]:
    """Return the layers of both packages from a place downwards, and their end. Layers import only lower layers."""
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    drawn = []
    for contract in reversed(settings["tool"]["importlinter"]["contracts"]):
        if contract["type"] != "layers":
            continue
        (room,) = contract["containers"]
        drawn.append(_text(_MARGIN, y + 24, f"{room}/: a package imports only those below it", "head"))
        y += _TOP
        for layer in contract["layers"]:
            drawn.append(f'<rect x="{_MARGIN}" y="{y}" width="{_NAME}" height="{_LINE - 4}" rx="4"/>')
            drawn.append(_text(_MARGIN + 8, y + 14, layer))
            drawn.append(_text(_MARGIN + _NAME + 10, y + 14, _purpose(room, layer), "soft"))
            y += _LINE
    return drawn, y + _MARGIN


def _purpose(room: str, name: str) -> str:
    """Return what the docstring of a package or a module says first."""
    folder = ROOT / room / name
    file = folder / "__init__.py" if folder.is_dir() else folder.with_suffix(".py")
    text = ast.get_docstring(ast.parse(file.read_text(encoding="utf-8"))) or ""
    return re.split(r"[:.](?:\s|$)", text)[0].replace("`", "")


def _text(x: int, y: int, text: str, kind: str = "") -> str:
    of_kind = f' class="{kind}"' if kind else ""
    return f'<text x="{x}" y="{y}"{of_kind}>{escape(text)}</text>'


if __name__ == "__main__":
    TARGET.write_text(drawing(list_jobs(ROOT)), encoding="utf-8")
