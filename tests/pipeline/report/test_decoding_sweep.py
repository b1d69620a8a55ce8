"""Table and figure of a small sweep made by hand: which width is best, what is marked, whose points are drawn where."""

from __future__ import annotations

import csv
import json
from itertools import product
from pathlib import Path
from typing import Any

import pytest
from matplotlib.axes import Axes
from matplotlib.colors import same_color

from nmt.plots.style import COLORS
from pipeline.config.artifacts import Report
from pipeline.report.figures.decoding_sweep import sweep_figure
from pipeline.report.tables.decoding_sweep import sweep_table
from tests.latex import assert_compiles
from tests.report_settings import report_settings
from tests.running import nmt, outputs
from tests.unit.decoding.test_beam_search import decoding

LABELS = {"encdec": "RNNencdec-50", "search": "RNNsearch-50", "other": "Other"}
SETTINGS = report_settings(LABELS)
REPORT = Report.model_validate(SETTINGS)
CONFIGURED = decoding(beam=3, normalize_by_length=False, min_length="half", unknown="allowed")
BEAMS = (1, 2, 3, 5)
FORMS = ("csv", "md", "tex", "pdf", "png")
COMBINATIONS = list(product((False, True), ("half", "none"), ("allowed", "excluded")))


def sweep(base: float, beams: tuple[int, ...] = BEAMS) -> dict[str, Any]:
    """What `nmt sweep` writes: BLEU rises by one up to a beam of 2, where it is as at 3, and falls behind it."""
    gains = {1: 0.0, 2: 1.0, 3: 1.0, 5: 0.25}
    rows = [
        {
            "beam": beam,
            "normalize_by_length": normalize,
            "min_length": min_length,
            "unknown": unknown,
            "bleu": base + place + gains[beam],
            "mean_length": 20.5,
            "length_ratio": 0.98765,
            "unfinished": 10 * beam + place,
            "log_probability": -7.123456,
            "seconds": 12.345,
        }
        for place, (normalize, min_length, unknown) in enumerate(COMBINATIONS)
        for beam in reversed(beams)
    ]
    return {"model": "id", "sentences": 3003, "signature": "nrefs:1", "device": "GPU", "scores": rows}


SWEEPS = {"encdec": sweep(10.0), "search": sweep(20.0)}


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Table and figure as the subcommand writes them."""
    return written(tmp_path_factory.mktemp("decoding_sweep"), "1")


def written(folder: Path, hash_seed: str) -> Path:
    options = ["--settings", json.dumps(SETTINGS), "--decoding", CONFIGURED.model_dump_json()]
    for model, values in SWEEPS.items():
        path = folder / f"{model}.json"
        path.write_text(json.dumps(values), encoding="utf-8")
        options += ["--sweep", model, str(path)]
    options += outputs(folder, "decoding_sweep", *FORMS)
    options += ["--output-sums", str(folder / "decoding_sweep.sha256")]
    result = nmt("decoding-sweep", *options, hash_seed=hash_seed)
    assert result.returncode == 0, result.stderr
    return folder


def test_the_csv_has_a_row_for_every_width(made: Path) -> None:
    with (made / "decoding_sweep.csv").open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    assert len(rows) == 2 * len(COMBINATIONS) * len(BEAMS)
    (row,) = [row for row in rows if row["configured"] == "True" and row["id"] == "search"]
    assert (row["model"], row["beam"], row["normalize_by_length"]) == ("RNNsearch-50", "3", "False")
    assert (row["min_length"], row["unknown"], row["bleu"]) == ("half", "allowed", "21.00")
    assert (row["length_ratio"], row["log_probability"], row["seconds"]) == ("0.9877", "-7.1235", "12.3")
    assert (row["sentences"], row["device"], row["signature"]) == ("3003", "GPU", "nrefs:1")
    assert sum(row["configured"] == "True" for row in rows) == 2


def test_readers_see_the_best_width_and_what_is_configured(made: Path) -> None:
    text = (made / "decoding_sweep.md").read_text(encoding="utf-8")
    lines = [line for line in text.split("\n") if line.startswith("|")]
    cells = [[cell.strip() for cell in line.split("|")[1:-1]] for line in lines]
    assert cells[0][:5] == ["Model", "Divided by length", "Shortest", "[UNK]", "Best beam"]
    assert cells[0][5:] == ["BLEU", "Length", "Unfinished", "BLEU, beam 3"]
    assert len(cells) == 2 + 2 * len(COMBINATIONS)
    # a beam of 2 is as good as one of 3, and narrower; what is beside BLEU is its own
    first = ["RNNencdec-50", "no", "half", "allowed", "2", "11.00", "0.988", "20", "11.00°"]
    assert cells[2] == first
    assert cells[-1] == ["RNNsearch-50", "yes", "none", "excluded", "2", "28.00", "0.988", "27", "28.00"]
    assert text.count("°") == 3  # once per model, and in the note
    said = " ".join(text.split())
    assert "chosen on the test set itself" in said and "all 3,003 sentences" in said and "nrefs:1" in said
    assert_compiles(made / "decoding_sweep.tex")
    tex = (made / "decoding_sweep.tex").read_text(encoding="utf-8")
    assert tex.isascii() and tex.count("\\midrule") == 2 and "{[UNK]}" not in tex.split("\\midrule")[1]


def test_settings_that_were_not_tried_are_said_not_to_be() -> None:
    table = sweep_table(SWEEPS, decoding(beam=4, normalize_by_length=True), REPORT)
    assert not any("°" in cell for row in table.shown.to_numpy() for cell in row)
    assert {row[-1] for row in table.shown.to_numpy()} == {""}
    assert "(beam 4, divided by length, none, [UNK] allowed) were not tried" in table.notes[-1]


def points(axes: Axes) -> list[tuple[str, bool, list[float], list[float]]]:
    """Colour, dashed or not, beams and BLEU of each curve; rings are none."""
    return [
        (str(line.get_color()), line.get_linestyle() == "--", list(line.get_xdata()), list(line.get_ydata()))
        for line in axes.get_lines()
        if line.get_linestyle() != "None"
    ]


def test_the_figure_has_a_panel_a_model_and_a_curve_a_combination() -> None:
    figure = sweep_figure(SWEEPS, CONFIGURED, REPORT)
    panels = [axes for axes in figure.axes if axes.axison]
    assert [axes.get_title() for axes in panels] == ["RNNencdec-50", "RNNsearch-50"]
    for axes, base in zip(panels, (10.0, 20.0), strict=True):
        drawn = points(axes)
        assert len({(color, dashed) for color, dashed, _, _ in drawn}) == len(COMBINATIONS)
        for (_, dashed, beams, values), (place, combination) in zip(
            drawn, enumerate(COMBINATIONS), strict=True
        ):
            assert beams == list(BEAMS) and dashed == combination[0]
            assert values == [base + place + gain for gain in (0.0, 1.0, 1.0, 0.25)]
        # one colour for a combination with and without division, all of them for colour-blind eyes
        assert [color for color, *_ in drawn[:4]] == [color for color, *_ in drawn[4:]]
        assert all(any(same_color(color, known) for known in COLORS) for color, *_ in drawn)
        (ring,) = [line for line in axes.get_lines() if line.get_linestyle() == "None"]
        assert (list(ring.get_xdata()), list(ring.get_ydata())) == ([3], [base + 1.0])
    (legend,) = figure.legends
    said = [text.get_text() for text in legend.get_texts()]
    assert len(said) == 4 + 2 + 1 and said[-1] == "As configured"
    assert said[0] == "At least half the source's length, [UNK] allowed"


def test_a_legend_names_only_what_is_drawn() -> None:
    values = sweep(10.0)
    rows = [row for row in values["scores"] if row["normalize_by_length"] and row["unknown"] == "allowed"]
    figure = sweep_figure({"search": {**values, "scores": rows}}, CONFIGURED, REPORT)
    said = [text.get_text() for text in figure.legends[0].get_texts()]
    assert len(said) == 3 and said[-1] == "By log-probability divided by length"


def test_an_odd_number_of_models_leaves_a_place_empty() -> None:
    figure = sweep_figure({**SWEEPS, "other": sweep(5.0)}, CONFIGURED, REPORT)
    assert [axes.get_title() for axes in figure.axes if axes.axison] == list(
        map(REPORT.label, [*SWEEPS, "other"])
    )


def test_the_same_bytes_twice_and_fonts_that_journals_take(made: Path, tmp_path: Path) -> None:
    again = written(tmp_path, "2")
    for form in ("csv", "md", "tex", "pdf", "png"):
        name = f"decoding_sweep.{form}"
        assert (made / name).read_bytes() == (again / name).read_bytes()
    pdf = (made / "decoding_sweep.pdf").read_bytes()
    assert b"/Type3" not in pdf and b"CreationDate" not in pdf and b"/CIDFontType2" in pdf


def test_what_is_no_sweep_is_refused_in_a_line(made: Path, tmp_path: Path) -> None:
    (tmp_path / "none.json").write_text("{}", encoding="utf-8")
    files = [*outputs(tmp_path, "t", *FORMS), "--output-sums", str(tmp_path / "t.sha256")]
    shared = ["--settings", json.dumps(SETTINGS), "--decoding", CONFIGURED.model_dump_json(), *files]
    found = nmt("decoding-sweep", *shared, "--sweep", "search", str(tmp_path / "none.json"))
    assert found.returncode == 2 and "none.json: key 'scores' is missing" in found.stderr
    twice = ["--sweep", "search", str(made / "search.json")] * 2
    found = nmt("decoding-sweep", *shared, *twice)
    assert found.returncode == 2 and "model 'search' is given twice" in found.stderr
    found = nmt("decoding-sweep", *shared[:3], '{"beam": 0}', *files, *twice[:3])
    assert found.returncode == 2 and found.stderr.startswith("nmt: error: --decoding: ")
    assert found.stderr.count("\n") == 1
