"""What `make results-page` calls: docs/results.md and its pictures, from the folders of experiments.

Usage: python -m workflow.results_page PAGE PICTURES EXPERIMENT...

What is said stands in page.md.jinja; every number is read from files that have the checksums of their record, or, where
training is not finished, from its history.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from jinja2 import Environment, StrictUndefined
from PIL import Image

from nmt.errors import UserError, printable
from nmt.io.files import atomic_path, sha256
from pipeline.config.artifacts import FIRST_PAPER
from pipeline.publish.ro_crate import RECORD
from pipeline.report.papers import ScoreTable, TrainingTable
from workflow.results_page.findings import absent, of_paper
from workflow.results_page.folder import Experiment
from workflow.results_page.groups import by_length, by_unknown_words, pairs
from workflow.results_page.tables import (
    alignment_error_rates,
    curves,
    markdown,
    of_first_paper,
    origin,
    scale,
    scores,
    training,
    within_limit,
)

TEMPLATE = Path(__file__).with_name("page.md.jinja")
PICTURES = {"figure2": "BLEU against sentence length", "figure3": "Alignments"}
"""Figures that the page shows, and what is seen on them."""
_COLOURS = 128
_WIDTH = 720


def main() -> int:
    """Write the page; problems are one line each."""
    if len(sys.argv) < 4:
        print("error: expected PAGE PICTURES EXPERIMENT...", file=sys.stderr)
        return 2
    page, pictures, *folders = map(Path, sys.argv[1:])
    try:
        write(page, pictures, [Experiment(folder) for folder in folders])
    except UserError as error:
        print(printable(f"error: {error}"), file=sys.stderr)
        return 2
    return 0


def write(page: Path, pictures: Path, experiments: Sequence[Experiment]) -> None:
    """Write the page and its pictures."""
    environment = Environment(
        undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True, keep_trailing_newline=True
    )
    text = environment.from_string(TEMPLATE.read_text(encoding="utf-8")).render(
        experiments=[_section(experiment, page, pictures) for experiment in experiments],
        found=_found(experiments),
        scale=markdown(scale(experiments)),
        origins=markdown([origin(experiment) for experiment in experiments if experiment.finished]),
        samples=experiments[0].settings.bootstrap_samples,
        folders=" ".join(f"experiments/{experiment.name}" for experiment in experiments),
    )
    with atomic_path(page) as temporary:
        temporary.write_text(text, encoding="utf-8")


def _found(experiments: Sequence[Experiment]) -> list[tuple[str, str, list[str]]]:
    """What each paper found: its name, the table, and what does not show."""
    papers = dict.fromkeys(name for experiment in experiments for name in experiment.config.artifacts.papers)
    tables = [of_first_paper(experiments)]
    tables += [of_paper(name, experiments) for name in papers if name != FIRST_PAPER]
    return [(paper, markdown(rows), absent(rows)) for paper, rows in tables if rows]


def _section(experiment: Experiment, page: Path, pictures: Path) -> dict[str, Any]:
    """What the template says of an experiment."""
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
        "curves": markdown(curves(experiment)),
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
            "pairs": markdown(pairs(experiment.comparison, experiment.config, experiment.limit)),
            "lengths": markdown(by_length(experiment.package, experiment.config)),
            "unknown": markdown(by_unknown_words(experiment.package, experiment.config)),
            "alignments": markdown(alignment_error_rates(experiment)),
            "pictures": _pictures(experiment, page, pictures),
        }
    return section


def _pictures(experiment: Experiment, page: Path, pictures: Path) -> dict[str, str]:
    """Make the pictures; what is seen, and where they lie from the page."""
    made = {}
    for name, seen in PICTURES.items():
        if (source := experiment.folder / f"{name}.png").is_file():
            target = pictures / f"{experiment.name}_{name}.png"
            _shrink(source, target)
            made[seen] = os.path.relpath(target, page.parent)
    return made


def _shrink(source: Path, target: Path) -> None:
    """A picture small enough for a page, in few colours."""
    with Image.open(source) as picture:
        height = round(picture.height * _WIDTH / picture.width)
        small = picture.convert("RGB").resize((_WIDTH, height), Image.Resampling.LANCZOS)
    with atomic_path(target) as temporary:
        small.quantize(_COLOURS).save(temporary, "PNG", optimize=True)


if __name__ == "__main__":
    sys.exit(main())
