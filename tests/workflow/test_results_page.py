"""What the papers found, as docs/results.md has it, and what does not show."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from pipeline.config.runs import Run
from pipeline.results.papers import Finding, read_paper
from tests.running import ROOT
from workflow.results_page.__main__ import write
from workflow.results_page.findings import absent, measured, of_paper
from workflow.results_page.folder import Experiment
from workflow.results_page.groups import REPORTED
from workflow.results_page.tables import origin

ONE_RUN = {"all": 20.0, "no_unk": 24.5, "long": 15.0}


def experiment(differences: dict[tuple[str, str], tuple[float, float]]) -> Any:
    """A finished experiment in which all systems have the same BLEU but for stated differences, each with its p."""
    systems = {system for pair in differences for system in pair}
    pairs = [
        {"first": other, "second": system, "difference": difference, "p": p}
        for (system, other), (difference, p) in differences.items()
    ]
    comparison = {
        column: {"systems": {system: {"bleu": bleu} for system in systems}, "pairs": pairs}
        for column, bleu in ONE_RUN.items()
    }
    perplexities = [
        {"id": "lstm-forward", "perplexity": "8.00"},
        {"id": "lstm-reversed", "perplexity": "6.00"},
    ]
    return SimpleNamespace(
        comparison=comparison,
        settings=SimpleNamespace(bootstrap_samples=1000),
        csv=lambda table: perplexities if table == "sutskever2014_perplexity" else [],
    )


def test_findings_stand_beside_what_the_papers_tables_report() -> None:
    differences = {("grconv-30", "rnnencdec-30"): (-1.5, 0.004), ("moses", "rnnencdec-30"): (30.0, 0.5)}
    name, rows = of_paper("cho2014b", {"mine": measured("cho2014b", experiment(differences))})
    found = {row[""]: (row[REPORTED], row["mine"]) for row in rows}
    assert name == "Cho et al. (2014b)"
    # compared the other way round, and reported in Table 1 (a)
    assert found["RNNenc minus grConv, all"] == ("+3.95", "+1.50, p = 0.004")
    assert found["RNNenc minus grConv, no unknown words"][0] == "+5.23"
    assert found["grConv: BLEU on long sentences / BLEU on all"] == ("", "75%")
    assert found["RNNenc: no unknown words minus all"] == ("+9.53", "+4.50")
    assert found["Moses minus RNNenc, all"] == ("+19.38", "+30.00, p = 0.500 (n.s.)")
    # nobody has measured them
    assert not [row for row in found if "Moses +" in row]


def test_what_does_not_show_is_said() -> None:
    differences = {
        ("lstm-forward", "lstm-reversed"): (0.5, 0.001),
        ("lstm-reversed-ensemble-5-beam-12", "lstm-reversed"): (0.1, 0.3),
    }
    _, rows = of_paper("sutskever2014", {"mine": measured("sutskever2014", experiment(differences))})
    found = {row[""]: row["mine"] for row in rows}
    assert found["reversed and forward source: perplexity"] == "−25%"
    (line,) = absent(rows)
    assert line == (
        "- What does not show in mine: reversed minus forward source, all (−0.50, p ≤ 0.001);"
        " 5 reversed, beam 12, minus one (+0.10, p = 0.300 (n.s.))."
    )


def test_hours_of_a_run_that_continues_another_count_once() -> None:
    made = {"code": {"version": "1"}, "processor": "P", "packages": {"torch": "2.13.0"}}
    hours = {"one": 4.0, "star": 6.5}  # 4.0 of them from `one`
    summaries = {name: {"hours": value, "made_with": made, "device": "cpu"} for name, value in hours.items()}
    runs = {"one": Run("one", "one", 1, None), "star": Run("star", "star", 1, "one")}
    finished: Any = SimpleNamespace(name="mine", summaries=summaries, runs=runs)
    assert origin(finished)["Hours of training"] == "6.5"


@pytest.mark.parametrize("paper", ["cho2014b", "sutskever2014"])
def test_findings_are_of_systems_that_some_experiment_has(paper: str) -> None:
    folders = [folder for folder in (ROOT / "experiments").iterdir() if folder.name.startswith(paper)]
    text = "".join(file.read_text(encoding="utf-8") for folder in folders for file in folder.glob("*.yaml"))
    text += (ROOT / "config.yaml").read_text(encoding="utf-8")
    findings = read_paper(ROOT / "workflow" / "papers" / f"{paper}.yaml").findings
    assert findings
    for system in {system for finding in findings for system in finding.of} - {"moses", "moses-rnnenc"}:
        assert f"{system}:" in text, system


def test_a_measure_is_of_one_system_or_of_two() -> None:
    for of, measure in ((["a"], "all"), (["a", "b"], "share")):
        with pytest.raises(ValueError, match=f"{len(of)} systems, which `{measure}` is not of"):
            Finding(says="it", of=of, measure=measure)  # type: ignore[arg-type]


def test_an_experiment_that_is_not_finished_has_no_findings_yet(tmp_path: Path) -> None:
    folder = tmp_path / "mine"
    folder.mkdir()
    (folder / "config.yaml").write_text("artifacts: {papers: [bahdanau2015, cho2014b]}\n", encoding="utf-8")
    write(tmp_path / "results.md", tmp_path / "pictures", [Experiment(folder)])
    assert "Not finished" in (tmp_path / "results.md").read_text(encoding="utf-8")
