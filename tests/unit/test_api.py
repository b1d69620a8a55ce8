"""Translating from Python does what `nmt translate` does, and `import nmt` stays light."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tomllib
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest

import nmt
from nmt.backend.products import processor_supports
from tests.messages import check, refused
from tests.running import ROOT
from tests.running import nmt as command
from tests.translators import trained_model
from tests.workflow.test_imports import named

LINES = ["w3 w4 w5.", "", "nothing w3 is known", "w3 w4, " * 60]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return trained_model(tmp_path_factory.mktemp("api"))


@pytest.fixture(scope="module")
def model(folder: Path) -> nmt.Model:
    return nmt.load(folder, device="cpu")


def test_import_loads_nothing_heavy() -> None:
    code = "import sys, nmt; print({'torch', 'numpy', 'pydantic', 'matplotlib', 'click'} & set(sys.modules))"
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True)
    assert done.stdout == "set()\n"
    with pytest.raises(AttributeError, match="no attribute 'lode'"):
        _ = nmt.lode  # type: ignore[attr-defined]


@pytest.mark.parametrize(
    ("given", "spins"),
    [({}, "5000"), ({"GOMP_SPINCOUNT": "7"}, "7"), ({"OMP_WAIT_POLICY": "PASSIVE"}, "0")],
)
def test_torch_s_openmp_is_told_unless_the_user_has_said_something(given: dict[str, str], spins: str) -> None:
    named = {"GOMP_SPINCOUNT", "OMP_WAIT_POLICY"}
    environment = {key: value for key, value in os.environ.items() if key not in named}
    done = subprocess.run(
        [sys.executable, "-c", "import nmt, torch"],
        env=environment | given | {"OMP_DISPLAY_ENV": "VERBOSE"},
        capture_output=True,
        text=True,
        check=True,
    )
    if "GOMP_SPINCOUNT" not in done.stderr:
        pytest.skip("this torch has another OpenMP")
    assert f"GOMP_SPINCOUNT = '{spins}'" in done.stderr


def test_a_list_of_lines_gives_what_the_command_writes(
    folder: Path, model: nmt.Model, tmp_path: Path
) -> None:
    (tmp_path / "text").write_text("\n".join(LINES) + "\n", encoding="utf-8")
    written = command("translate", "--model", folder, "--json", "--device", "cpu", tmp_path / "text")
    assert written.returncode == 0, written.stderr
    records = [json.loads(line) for line in written.stdout.splitlines()]
    found = model.translate(LINES)
    assert len(found) == len(records) == len(LINES)
    for one, record in zip(found, records, strict=True):
        assert (one.text, str(one), one.tokens) == (record["text"], record["text"], record["tokens"])
        assert one.source_tokens == record["source_tokens"]
        assert one.score == pytest.approx(record["log_probability"], abs=1e-4)
        assert sum(one.token_scores) == pytest.approx(one.score, abs=1e-4)


def test_attention_has_a_row_per_token_and_a_column_per_source_token(model: nmt.Model) -> None:
    short, empty, _, long = model.translate(LINES)
    for one in (short, empty, long):
        assert one.attention is not None
        assert one.attention.shape == (len(one.tokens), len(one.source_tokens))
    assert np.all((short.attention >= 0) & (short.attention <= 1))
    assert (
        long.attention is not None and len(long.source_tokens) > 100
    )  # in pieces, which see nothing of each other
    assert not long.attention[0, 100:].any() and not long.attention[-1, :10].any()


def test_options_are_those_of_the_command(model: nmt.Model) -> None:
    tokens = model.translate("w3 w4 .", tokenized=True, beam_size=1)
    assert tokens.source_tokens == ["w3", "w4", "."]
    assert tokens.text == " ".join(tokens.tokens)
    assert "[UNK]" not in model.translate("nothing is known", unknown="forbid").text
    assert model.labels == ["rnnsearch"] and model.languages == ("en", "fr") and model.aligns
    assert repr(model) == "<nmt model rnnsearch: en to fr>"


def test_several_translations_and_scores_are_a_call_each(model: nmt.Model) -> None:
    ranked = model.translate("w3 w4 w5.", n_best=3)
    assert len(ranked) == 3 and ranked[0].score > ranked[2].score
    assert model.translate(LINES, n_best=1)[0] == [model.translate(LINES[0])]
    assert model.translate("w3 w4", attention=False).attention is None
    best = ranked[0]
    given = model.score(best.source, " ".join(best.tokens), tokenized=False)
    assert given.tokens == best.tokens and given.finished
    assert given.score == pytest.approx(best.score, abs=1e-4) and given.attention is not None
    assert [one.score for one in model.score([best.source], [best.text], attention=False)] == [given.score]
    with refused():
        model.score(["w3", "w4"], ["w5"])
    with refused():
        model.translate("w3", n_best=0)


def test_the_matrix_is_drawn_for_a_notebook_and_into_a_file(model: nmt.Model, tmp_path: Path) -> None:
    one = model.translate("w3 w4 w5.")
    for ending, start in ((".png", b"\x89PNG"), (".pdf", b"%PDF"), (".svg", b"<?xml")):
        figure = one.plot(tmp_path / f"matrix{ending}")
        first = (tmp_path / f"matrix{ending}").read_bytes()
        assert first.startswith(start)
        one.plot(tmp_path / f"matrix{ending}")
        assert (tmp_path / f"matrix{ending}").read_bytes() == first
    assert figure._repr_png_().startswith(b"\x89PNG")  # type: ignore[attr-defined]
    (image,) = figure.axes[0].images
    assert np.array_equal(image.get_array(), one.attention)
    assert [label.get_text() for label in figure.axes[0].get_xticklabels()] == one.source_tokens
    with refused():
        one.plot(tmp_path / "matrix.txt")
    with refused():
        model.translate("").plot()


def test_the_command_draws_a_file_per_line_with_words(folder: Path, tmp_path: Path) -> None:
    (tmp_path / "text").write_text("w3 w4\n\nw5\n", encoding="utf-8")
    done = command(
        "translate", "--model", folder, "--plot", tmp_path / "m.png", "--device", "cpu", tmp_path / "text"
    )
    assert done.returncode == 0, done.stderr
    assert sorted(path.name for path in tmp_path.glob("m*")) == ["m-3.png", "m.png"]
    done = command("translate", "--model", folder, "--plot", tmp_path / "m.gif", tmp_path / "text")
    assert done.returncode == 2
    check(done.stderr)


def test_what_does_not_work_is_said_in_one_line(tmp_path: Path) -> None:
    with refused():
        nmt.load(tmp_path / "nowhere")
    blind = nmt.load(trained_model(tmp_path / "blind", "rnnencdec"), device="cpu")
    one = blind.translate("w3 w4")
    assert one.attention is None and not blind.aligns
    with refused():
        one.plot()
    with refused():
        blind.translate("w3", unknown="copy")


@pytest.mark.parametrize(
    "options",
    [
        {"max_words": 0},
        {"unknown": "COPY"},
        {"beam_size": "5"},
    ],
    ids=str,
)
def test_options_of_translate_are_checked_as_those_of_the_command(
    model: nmt.Model, options: dict[str, object]
) -> None:
    with refused():
        model.translate("w3 w4", **options)


WITHOUT = """
import sys
from nmt.cli import main

class Refuse:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in %r:
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)

sys.meta_path.insert(0, Refuse())
main()
"""


def test_translating_needs_nothing_of_the_workflow_and_the_rest_says_what_to_install(
    folder: Path, tmp_path: Path
) -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    extra = named(project["optional-dependencies"]["workflow"])
    assert {"snakemake", "pandas"} <= extra and not extra & named(project["dependencies"])
    code = WITHOUT % sorted(extra | {"markdown_it", "tensorboardX"})

    def call(*arguments: object) -> subprocess.CompletedProcess[str]:
        line = [sys.executable, "-c", code, *map(str, arguments)]
        return subprocess.run(line, cwd=ROOT, input="w3 w4\n", capture_output=True, text=True, check=False)

    plot = tmp_path / "matrix.png"
    done = call("translate", "--model", folder, "--plot", plot, "--alignment", "pharaoh")
    assert done.returncode == 0 and plot.exists(), done.stderr
    assert call("--help").returncode == 0
    done = call("status", tmp_path)
    assert done.returncode == 2
    check(done.stderr)


@pytest.mark.skipif(not processor_supports("bf16"), reason="the processor has no instructions for bf16")
def test_models_of_several_precisions_translate_at_the_same_time_each_in_its_own(folder: Path) -> None:
    models = [nmt.load(folder, device="cpu", precision=precision) for precision in ("fp32", "bf16")]
    alone = [[one.score for one in model.translate(LINES)] for model in models]
    assert alone[0] != alone[1]
    with ThreadPoolExecutor(8) as threads:
        together = threads.map(lambda number: models[number % 2].translate(LINES), range(48))
    for number, found in enumerate(together):
        assert [one.score for one in found] == alone[number % 2]
