"""`make results-page` calls this module. It writes docs/results.md and its pictures from the folders of experiments.

Usage: python -m workflow.results_page PAGE PICTURES [EXPERIMENT...]

The sentences stand in page.md.jinja. Every number is read from files that have the checksums of their record, or from
the history of a training that is not finished. What the page says of each experiment is also written to a JSON file
beside it. An experiment whose folder is not given, because it ran on another machine, keeps what that file says of it.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from jinja2 import Environment, StrictUndefined
from PIL import Image

from nmt.errors import UserError, printable
from nmt.io.files import atomic_path, read_json, sha256
from pipeline.config.artifacts import FIRST_PAPER
from pipeline.results.papers import ScoreTable, TrainingTable
from pipeline.results.ro_crate import RECORD
from workflow.results_page.findings import absent, measured, of_paper
from workflow.results_page.folder import Experiment
from workflow.results_page.groups import by_length
from workflow.results_page.tables import (
    alignment_error_rates,
    found_first,
    markdown,
    of_experiment,
    of_first_paper,
    origin,
    scale,
    scores,
    training,
    within_limit,
)

TEMPLATE = Path(__file__).with_name("page.md.jinja")
PICTURES = {"figure2": "BLEU against sentence length", "figure3": "Alignments"}
"""Figures of the page, with their descriptions."""
Record = dict[str, Any]
"""What the page says of an experiment: its section, and its columns and rows of the tables of all."""
_COLOURS = 128
_WIDTH = 720


def main() -> int:
    """Write the page. Each problem is one line."""
    if len(sys.argv) < 3:
        print("error: expected PAGE PICTURES [EXPERIMENT...]", file=sys.stderr)
        return 2
    page, pictures, *folders = map(Path, sys.argv[1:])
    try:
        write(page, pictures, [Experiment(folder) for folder in folders])
    except UserError as error:
        print(printable(f"error: {error}"), file=sys.stderr)
        return 2
    return 0


def write(page: Path, pictures: Path, experiments: Sequence[Experiment]) -> None:
    """Write the page, the JSON file beside it, and the pictures."""
    record = page.with_suffix(".json")
    records: dict[str, Record] = read_json(record) if record.is_file() else {}
    records |= {experiment.name: _record(experiment, page, pictures) for experiment in experiments}
    records = dict(
        sorted(records.items(), key=lambda item: (not item[1]["section"]["of_first_paper"], item[0]))
    )
    environment = Environment(
        undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True, keep_trailing_newline=True
    )
    text = environment.from_string(TEMPLATE.read_text(encoding="utf-8")).render(
        experiments=[found["section"] for found in records.values()],
        found=_found(records),
        scale=markdown(scale({name: found["scale"] for name, found in records.items()})),
        origins=markdown([found["origin"] for found in records.values() if found["origin"]]),
        folders=" ".join(f"experiments/{name}" for name in records),
    )
    # in the order in which the page shows it
    for path, content in ((page, text), (record, json.dumps(records, indent=2, ensure_ascii=False) + "\n")):
        with atomic_path(path) as temporary:
            temporary.write_text(content, encoding="utf-8")


def _record(experiment: Experiment, page: Path, pictures: Path) -> Record:
    """Return what the page says of an experiment."""
    papers = experiment.config.artifacts.papers if experiment.finished else []
    found = {paper: measured(paper, experiment) for paper in papers}
    if experiment.of_first_paper:
        found[FIRST_PAPER] = found_first(experiment)
    return {
        "section": _section(experiment, page, pictures),
        "findings": found,
        "scale": of_experiment(experiment),
        "origin": origin(experiment) if experiment.finished else {},
    }


def _found(records: Mapping[str, Record]) -> list[tuple[str, str, list[str]]]:
    """Return the name of each paper, the table of its findings, and what does not show."""
    papers = dict.fromkeys(paper for found in records.values() for paper in found["findings"])
    tables = [
        (of_first_paper if paper == FIRST_PAPER else partial(of_paper, paper))(
            {name: found["findings"][paper] for name, found in records.items() if paper in found["findings"]}
        )
        for paper in papers
    ]
    return [(paper, markdown(rows), absent(rows)) for paper, rows in tables if rows]


def _section(experiment: Experiment, page: Path, pictures: Path) -> dict[str, Any]:
    """Return what the template says of an experiment."""
    tables = [
        (paper.name, name, table) for paper in experiment.papers for name, table in paper.tables.items()
    ]
    section: dict[str, Any] = {
        "name": experiment.name,
        "finished": experiment.finished,
        "scores": [
            (paper, table.called, markdown(scores(experiment, name, table)))
            for paper, name, table in tables
            if isinstance(table, ScoreTable) and experiment.csv(name)
        ],
        "training": [
            markdown(training(experiment, name, table))
            for _, name, table in tables
            if isinstance(table, TrainingTable)
        ],
        "limited": within_limit(experiment),
        "of_first_paper": experiment.of_first_paper,
    }
    if experiment.finished:
        first = next(name for _, name, table in tables if isinstance(table, ScoreTable))
        section |= {
            "finding": (experiment.folder / "finding.txt").read_text(encoding="utf-8").strip(),
            "checksums": {name: sha256(experiment.folder / name) for name in (RECORD, f"{first}.csv")},
        }
    if experiment.of_first_paper:
        section |= {
            "lengths": markdown(by_length(experiment.package, experiment.config)),
            "alignments": markdown(alignment_error_rates(experiment)),
            "pictures": _pictures(experiment, page, pictures),
        }
    return section


def _pictures(experiment: Experiment, page: Path, pictures: Path) -> dict[str, str]:
    """Make the pictures. Return what they show, and their places as seen from the page."""
    made = {}
    for name, seen in PICTURES.items():
        if (source := experiment.folder / f"{name}.png").is_file():
            target = pictures / f"{experiment.name}_{name}.png"
            _shrink(source, target)
            made[seen] = os.path.relpath(target, page.parent)
    return made


def _shrink(source: Path, target: Path) -> None:
    """Write a picture that is small enough for a page, in few colours."""
    with Image.open(source) as picture:
        height = round(picture.height * _WIDTH / picture.width)
        small = picture.convert("RGB").resize((_WIDTH, height), Image.Resampling.LANCZOS)
    with atomic_path(target) as temporary:
        small.quantize(_COLOURS).save(temporary, "PNG", optimize=True)


if __name__ == "__main__":
    sys.exit(main())
