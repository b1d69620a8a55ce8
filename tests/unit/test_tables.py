"""Tables 1 and 2: columns, our numbers and the paper's, and LaTeX that compiles."""

from __future__ import annotations

import csv
import json
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from nmt.reported import read_paper
from nmt.spread import shown
from nmt.tables import enough, tex_escape
from tests.report_settings import report_settings

ROOT = Path(__file__).parents[2]
PAPER = ROOT / "workflow" / "paper.yaml"
MODELS = {
    "rnnencdec-30": "RNNencdec-30",
    "rnnsearch-30": "RNNsearch-30",
    "rnnencdec-50": "RNNencdec-50",
    "rnnsearch-50": "RNNsearch-50",
    "rnnsearch-50-star": "RNNsearch-50*",
}
DEVICE = "CPU_2 & 50% of $1 #3 {x} ~^\\"


def settings(**changes: Any) -> str:
    return json.dumps(report_settings(MODELS, figure2_models=["rnnsearch-50"], reported=True) | changes)


def nmt(*arguments: str | Path) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "nmt", *map(str, arguments)]
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)


@pytest.fixture(scope="module")
def inputs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Scores and summaries of the five models."""
    folder = tmp_path_factory.mktemp("inputs")
    for index, model in enumerate(MODELS):
        score = {
            "model": model,
            "seed": 1,
            "bleu_all": 10.005 + index,
            "bleu_no_unk": None if model == "rnnencdec-30" else 20 + index,
            "signature": "nrefs:1|tok:none",
            "sentences_all": 3003,
            "sentences_no_unk": 737,
        }
        summary = {
            "model": model,
            "label": "an older label",
            "family": model.split("-")[0],
            "updates": 1234 + index,
            "epochs": 6.4321,
            "hours": 0.0342,
            "device": DEVICE,
            "train_nll": 28.123456,
            "dev_nll": 3.0,
            "optimizer": "adam",
            "hidden_units": 96,
            "embedding_size": 64,
            "parameters": 100,
            "stopped_by": "updates",
            "train_pairs": 40000,
            "seed": 1,
        }
        (folder / f"{model}.score.json").write_text(json.dumps(score))
        (folder / f"{model}.summary.json").write_text(json.dumps(summary))
    return folder


def make(number: int, inputs: Path, folder: Path, settings: str, *more: str | Path) -> None:
    """Run the verb of a table on all models."""
    arguments: list[str | Path] = ["--settings", settings, *more]
    for model in MODELS:
        arguments += ["--summary", inputs / f"{model}.summary.json"]
        arguments += ["--score", inputs / f"{model}.score.json"] if number == 1 else []
    for form in ("csv", "md", "tex"):
        arguments += [f"--output-{form}", folder / f"table{number}.{form}"]
    result = nmt(f"table{number}", *arguments)
    assert result.returncode == 0, result.stderr


def rows_of(path: Path) -> list[dict[str, str]]:
    with open(path, encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


@pytest.fixture(scope="module")
def reported(inputs: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Both tables of a run that is the paper's."""
    folder = tmp_path_factory.mktemp("reported")
    make(1, inputs, folder, settings(), "--paper", PAPER)
    make(2, inputs, folder, settings(), "--paper", PAPER)
    return folder


@pytest.fixture(scope="module")
def own(inputs: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Both tables of another run: reported numbers are at hand but not wanted."""
    folder = tmp_path_factory.mktemp("own")
    make(1, inputs, folder, settings(reported=False), "--paper", PAPER)
    make(2, inputs, folder, settings(reported=False))
    return folder


def test_table1_starts_with_the_agreed_columns(reported: Path) -> None:
    header = (reported / "table1.csv").read_text().split("\n")[0]
    assert header.startswith("model,bleu_all,bleu_no_unk,reported_all,reported_no_unk,sentences_all,")


def test_table1_sets_the_papers_numbers_beside_ours(reported: Path) -> None:
    rows = rows_of(reported / "table1.csv")
    assert [row["model"] for row in rows] == [*MODELS.values(), "Moses"]
    star = rows[4]
    assert (star["bleu_all"], star["bleu_no_unk"]) == ("14.01", "24.00")
    assert (star["reported_all"], star["reported_no_unk"]) == ("28.45", "36.15")
    assert (star["updates"], star["hidden_units"], star["optimizer"]) == ("1238", "96", "adam")
    assert star["signature"] == "nrefs:1|tok:none"
    moses = rows[5]
    assert (moses["bleu_all"], moses["reported_all"], moses["reported_no_unk"]) == ("", "33.30", "35.63")
    assert rows[0]["bleu_no_unk"] == ""


def test_table1_of_another_run_has_nothing_reported(own: Path) -> None:
    rows = rows_of(own / "table1.csv")
    assert [row["model"] for row in rows] == list(MODELS.values())
    assert {row["reported_all"] + row["reported_no_unk"] for row in rows} == {""}
    for form in ("md", "tex"):
        text = (own / f"table1.{form}").read_text()
        assert "reported" not in text.lower() and "Moses" not in text and "28.45" not in text


def test_markdown_is_aligned_and_says_how_models_were_trained(reported: Path) -> None:
    text = (reported / "table1.md").read_text(encoding="utf-8")
    table, *notes = text.split("\n\n")
    assert len({len(line) for line in table.split("\n")}) == 1
    assert "RNNsearch-50*" in table and "All, reported" in table
    assert any("adam, 96 hidden units, 1,238 updates (RNNsearch-50*)" in " ".join(n.split()) for n in notes)
    assert "not computed by this run" in text


def test_table1_says_whether_the_unknown_word_could_be_written(
    inputs: Path, own: Path, tmp_path: Path
) -> None:
    make(1, inputs, tmp_path, settings(reported=False, unknown="excluded"))
    for folder, written in ((own, "may be written"), (tmp_path, "forbidden here too")):
        text = " ".join((folder / "table1.md").read_text(encoding="utf-8").split())
        assert f"All: 3,003 sentences, [UNK] {written}." in text


def test_table2_groups_families_as_the_paper_does(reported: Path) -> None:
    rows = rows_of(reported / "table2.csv")
    names = [row["model"] for row in rows]
    assert names == ["RNNenc-30", "RNNenc-50", "RNNsearch-30", "RNNsearch-50", "RNNsearch-50*"]
    first = rows[0]
    assert (first["updates"], first["epochs"], first["hours"]) == ("1234", "6.4321", "0.0342")
    assert (first["train_nll"], first["dev_nll"], first["device"]) == ("28.1235", "3.0000", DEVICE)
    assert (first["reported_updates"], first["reported_hours"]) == ("846000", "109")
    assert (first["reported_train_nll"], first["reported_dev_nll"]) == ("28.1", "53.0")


def test_table2_for_readers_marks_reported_rows(reported: Path, own: Path) -> None:
    lines = (reported / "table2.md").read_text(encoding="utf-8").split("\n")
    cells = [[cell.strip() for cell in line.split("|")[1:-1]] for line in lines[:4]]
    assert cells[0] == ["Model", "Updates (×10⁵)", "Epochs", "Hours", "Device", "Train NLL", "Dev. NLL"]
    assert cells[2] == ["RNNenc-30", "0.012", "6.4", "0.034", DEVICE, "28.1", "3.0"]
    assert cells[3] == ["RNNenc-30, reported", "8.46", "6.4", "109", "TITAN BLACK", "28.1", "53.0"]
    assert "TITAN" not in (own / "table2.csv").read_text() + (own / "table2.md").read_text()


def unescaped_specials(tex: str) -> list[str]:
    """Specials in a tabular's rows that are neither escaped nor ours (cell separators, mathematics)."""
    body = tex.split("\\toprule")[1].split("\\bottomrule")[0]
    plain = re.sub(
        r"\$\^\{\\circ\}\$|\$\\times\$|\$\\Delta\$|\$-\$|\$\^\{5\}\$| & | \\\\|\\midrule", "", body
    )
    plain = re.sub(r"\\[&%$#_{}]|\\text[a-z]+\{\}", "", plain)
    return re.findall(r"[\\&%$#_{}~^]", plain)


@pytest.mark.parametrize("name", ["table1", "table2"])
def test_tex_is_a_document_without_stray_specials(reported: Path, name: str) -> None:
    tex = (reported / f"{name}.tex").read_text(encoding="utf-8")
    assert unescaped_specials(tex) == []
    assert tex.startswith("\\documentclass") and tex.endswith("\\end{document}\n")
    assert "RNNsearch-50*" in tex
    assert tex.isascii()


@pytest.mark.parametrize("name", ["table1", "table2"])
def test_tex_compiles(reported: Path, tmp_path: Path, name: str) -> None:
    latex = shutil.which("pdflatex")
    if latex is None:
        pytest.skip("pdflatex is not installed")
    command = [latex, "-interaction=nonstopmode", "-halt-on-error", f"-output-directory={tmp_path}"]
    result = subprocess.run(
        [*command, str(reported / f"{name}.tex")], capture_output=True, text=True, check=False
    )
    if "File `standalone.cls' not found" in result.stdout:
        pytest.skip("LaTeX's package standalone is not installed")
    assert result.returncode == 0, result.stdout[-2000:]
    assert "Overfull" not in result.stdout


def test_tex_escape() -> None:
    assert tex_escape("50% & a_b #1 $ ~ ^ \\ {}") == (
        r"50\% \& a\_b \#1 \$ \textasciitilde{} \textasciicircum{} \textbackslash{} \{\}"
    )


@pytest.mark.parametrize(
    ("value", "decimals", "text"),
    [
        (8.46, 2, "8.46"),
        (6.0, 2, "6.00"),
        (109.4, 0, "109"),
        (0.0342, 0, "0.034"),
        (2.34, 0, "2.3"),
        (0, 1, "0.0"),
    ],
)
def test_small_numbers_keep_two_digits(value: float, decimals: int, text: str) -> None:
    assert shown(value, None, enough(value, decimals)) == text


def test_tables_are_the_same_twice(inputs: Path, reported: Path, tmp_path: Path) -> None:
    make(1, inputs, tmp_path, settings(), "--paper", PAPER)
    for form in ("csv", "md", "tex"):
        assert (tmp_path / f"table1.{form}").read_bytes() == (reported / f"table1.{form}").read_bytes()


def test_paper_holds_all_numbers_of_both_tables() -> None:
    paper = read_paper(PAPER, wanted=True)
    scores = {model: (row.bleu_all, row.bleu_no_unk) for model, row in paper.table1.items()}
    assert scores == {
        "rnnencdec-30": (13.93, 24.19),
        "rnnsearch-30": (21.50, 31.44),
        "rnnencdec-50": (17.82, 26.71),
        "rnnsearch-50": (26.75, 34.16),
        "rnnsearch-50-star": (28.45, 36.15),
        "moses": (33.30, 35.63),
    }
    training = {
        model: (row.updates, row.epochs, row.hours, row.train_nll, row.dev_nll)
        for model, row in paper.table2.items()
    }
    assert training == {
        "rnnencdec-30": (846_000, 6.4, 109, 28.1, 53.0),
        "rnnencdec-50": (600_000, 4.5, 108, 44.0, 43.6),
        "rnnsearch-30": (471_000, 3.6, 113, 26.7, 47.2),
        "rnnsearch-50": (288_000, 2.2, 111, 40.7, 38.1),
        "rnnsearch-50-star": (667_000, 5.0, 252, 36.7, 35.2),
    }


def refused(tmp_path: Path, settings: str, *more: str | Path) -> str:
    outputs = [
        part for form in ("csv", "md", "tex") for part in (f"--output-{form}", tmp_path / f"out.{form}")
    ]
    result = nmt("table1", "--settings", settings, *outputs, *more)
    assert result.returncode == 2
    assert not list(tmp_path.glob("out.*"))
    lines = result.stderr.strip().split("\n")
    assert len(lines) == 1, result.stderr
    return lines[0]


def test_bad_input_is_one_line(inputs: Path, tmp_path: Path) -> None:
    score = inputs / "rnnsearch-50.score.json"
    other = inputs / "rnnsearch-30.summary.json"
    both: list[str | Path] = ["--score", score, "--summary", inputs / "rnnsearch-50.summary.json"]
    assert "add --paper FILE" in refused(tmp_path, settings(), *both)
    assert "'rnnsearch-50' has a score but no summary" in refused(
        tmp_path, settings(reported=False), "--score", score, "--summary", other
    )
    assert "'rnnsearch-50' is given twice" in refused(
        tmp_path, settings(reported=False), *both, "--score", score
    )
    assert "figure2_windw" in refused(tmp_path, settings(figure2_windw=3), *both)
    assert "no such file" in refused(tmp_path, "nothing.json", *both)


def test_show_prints_tables_rates_and_paths(
    reported: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    rates = {
        "model": "rnnsearch-50",
        "sentences": 1000,
        "alignment_error_rate": 0.0512,
        "baselines": {
            "diagonal": {"alignment_error_rate": 0.4},
            "same_position": {"alignment_error_rate": 0.5},
        },
    }
    (tmp_path / "rnnsearch-50.json").write_text(json.dumps(rates))
    show([reported / "table1.md", tmp_path / "rnnsearch-50.json", tmp_path / "figure2.png"])
    out = capsys.readouterr().out
    assert (reported / "table1.md").read_text(encoding="utf-8") in out
    assert "rnnsearch-50: 5.1% on 1,000 sentences (a plain diagonal 40.0%, the same position 50.0%)" in out
    assert str(tmp_path / "figure2.png") in out


# of the seeds 1, 2, 3: BLEU, hours, dev NLL, updates
RUNS = {1: (10.0, 1.0, 30.0, 1000), 2: (11.0, 2.0, 30.5, 1000), 3: (15.0, 6.0, 31.0, 1600)}


@pytest.fixture(scope="module")
def several(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Both tables of a model with three seeds beside one with a single seed, their files in no order."""
    folder = tmp_path_factory.mktemp("several")
    arguments: list[str | Path] = ["--settings", settings(reported=False)]
    scores: list[str | Path] = []
    runs = [("rnnsearch-50", seed, *RUNS[seed]) for seed in (3, 1, 2)]
    for model, seed, bleu, hours, nll, updates in [("rnnencdec-50", 1, 5.0, 1.0, 40.0, 1000), *runs]:
        name = folder / f"{model}.{seed}"
        score = {"model": model, "seed": seed, "bleu_all": bleu, "bleu_no_unk": 2 * bleu, "signature": "s"}
        score |= {"sentences_all": 30, "sentences_no_unk": 20}
        summary = {"model": model, "seed": seed, "family": model.split("-")[0], "updates": updates}
        summary |= {"epochs": 0.5, "hours": hours, "device": "CPU", "train_nll": 20.0, "dev_nll": nll}
        summary |= {"optimizer": "adam", "hidden_units": 8, "embedding_size": 4, "parameters": 100}
        summary |= {"stopped_by": "updates", "train_pairs": 400}
        Path(f"{name}.score.json").write_text(json.dumps(score))
        Path(f"{name}.summary.json").write_text(json.dumps(summary))
        scores += ["--score", f"{name}.score.json"]
        arguments += ["--summary", f"{name}.summary.json"]
    for number in (1, 2):
        outputs = [
            part
            for form in ("csv", "md", "tex")
            for part in (f"--output-{form}", folder / f"table{number}.{form}")
        ]
        result = nmt(f"table{number}", *arguments, *(scores if number == 1 else []), *outputs)
        assert result.returncode == 0, result.stderr
    return folder


def test_table1_carries_mean_and_spread_of_the_seeds(several: Path) -> None:
    one, three = rows_of(several / "table1.csv")
    # BLEU 10, 11, 15: mean 12, deviation sqrt((4 + 1 + 9) / 2)
    assert (three["bleu_all"], three["bleu_all_std"], three["seeds"]) == ("12.00", "2.65", "3")
    assert (three["bleu_no_unk"], three["bleu_no_unk_std"]) == ("24.00", "5.29")
    assert (one["bleu_all"], one["bleu_all_std"], one["bleu_no_unk_std"], one["seeds"]) == (
        "5.00",
        "",
        "",
        "1",
    )
    text = (several / "table1.md").read_text(encoding="utf-8")
    assert "| 12.00 ± 2.65 | 24.00 ± 5.29 |" in text
    assert "1 seed (RNNencdec-50); 3 seeds (RNNsearch-50)" in " ".join(text.split())
    # updates 1000, 1000, 1600
    assert "1,200 updates on average (RNNsearch-50)" in " ".join(text.split())


def test_table2_carries_mean_and_spread_of_the_seeds(several: Path) -> None:
    one, three = rows_of(several / "table2.csv")
    # hours 1, 2, 6: mean 3, deviation sqrt((4 + 1 + 9) / 2); dev NLL 30, 30.5, 31: deviation 0.5
    assert (three["hours"], three["hours_std"]) == ("3.0000", "2.6458")
    assert (three["dev_nll"], three["dev_nll_std"]) == ("30.5000", "0.5000")
    assert (three["train_nll"], three["train_nll_std"]) == ("20.0000", "0.0000")
    assert (three["updates"], three["seed"], three["seeds"]) == ("1200", "3 1 2", "3")
    assert (one["seed"], one["seeds"], one["hours_std"], one["dev_nll_std"]) == ("1", "1", "", "")
    text = (several / "table2.md").read_text(encoding="utf-8")
    cells = [cell.strip() for cell in text.split("\n")[3].split("|")[1:-1]]
    assert cells == ["RNNsearch-50", "0.012 ± 0.003", "0.50", "3.0 ± 2.6", "CPU", "20.0", "30.5 ± 0.5"]


def test_spread_in_tex_is_mathematics(several: Path) -> None:
    for name in ("table1", "table2"):
        tex = (several / f"{name}.tex").read_text(encoding="utf-8")
        assert tex.isascii()
    assert r"12.00 $\pm$ 2.65 & 24.00 $\pm$ 5.29" in (several / "table1.tex").read_text(encoding="utf-8")


def test_runs_are_joined_by_model_and_seed(several: Path, tmp_path: Path) -> None:
    score = several / "rnnsearch-50.1.score.json"
    chosen = settings(reported=False)
    line = refused(tmp_path, chosen, "--score", score, "--summary", several / "rnnsearch-50.2.summary.json")
    assert "model 'rnnsearch-50' has a score but no summary with seed 1; give its summary.json" in line
    both = ["--score", score, "--score", score, "--summary", several / "rnnsearch-50.1.summary.json"]
    assert "'rnnsearch-50' is given twice with seed 1" in refused(tmp_path, chosen, *both)
