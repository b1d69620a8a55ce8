"""Translating from Python does what `nmt translate` does, and `import nmt` stays light."""

import tomllib
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest

import nmt
from nmt.api import check_lines
from nmt.backend.matmul import processor_supports
from tests.messages import refused
from tests.odd_values import said
from tests.running import ROOT, run_python
from tests.translators import trained_model
from tests.workflow.test_imports import named

LINES = ["w3 w4 w5.", "", "nothing w3 is known", "w3 w4, " * 60]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return trained_model(tmp_path_factory.mktemp("api"))


@pytest.fixture(scope="module")
def model(folder: Path) -> nmt.Model:
    return nmt.load(folder, device="cpu")


def test_import_loads_nothing_heavy():
    code = "import sys, nmt; print({'torch', 'numpy', 'pydantic', 'matplotlib', 'click'} & set(sys.modules))"
    assert run_python("-c", code, check=True).stdout == "set()\n"
    with pytest.raises(AttributeError, match="no attribute 'lode'"):
        _ = nmt.lode


@pytest.mark.parametrize(
    ("user_variables", "spin_count"),
    [({}, "5000"), ({"GOMP_SPINCOUNT": "7"}, "7"), ({"OMP_WAIT_POLICY": "PASSIVE"}, "0")],
)
def test_openmp_spin_count(user_variables, spin_count, monkeypatch):
    for name in ("GOMP_SPINCOUNT", "OMP_WAIT_POLICY"):
        monkeypatch.delenv(name, raising=False)
    variables = {"OMP_DISPLAY_ENV": "VERBOSE"} | user_variables
    result = run_python("-c", "import nmt, torch", env=variables, check=True)
    if "GOMP_SPINCOUNT" not in result.stderr:
        pytest.skip("this torch has another OpenMP")
    assert f"GOMP_SPINCOUNT = '{spin_count}'" in result.stderr


def test_options_of_translate(model):
    translation = model.translate("w3 w4 .", tokenized=True, beam_size=1)
    assert translation.source_tokens == ["w3", "w4", "."]
    assert translation.text == " ".join(translation.tokens)
    assert "[UNK]" not in model.translate("nothing is known", unknown="forbid").text
    assert model.translate("w3 w4", attention=False).attention is None
    for options in ({"max_words": 0}, {"unknown": "COPY"}, {"beam_size": "5"}, {"n_best": 0}):
        with refused():
            model.translate("w3 w4", **options)


def test_attributes_of_model(model):
    assert model.labels == ["rnnsearch"] and model.languages == ("en", "fr") and model.has_attention
    assert repr(model) == "<nmt model rnnsearch: en to fr>"


def test_n_best_and_score(model):
    n_best_list = model.translate("w3 w4 w5.", n_best=3)
    best = n_best_list[0]
    assert len(n_best_list) == 3 and best.score > n_best_list[2].score
    assert model.translate(LINES, n_best=1)[0] == [model.translate(LINES[0])]
    scored = model.score(best.source, " ".join(best.tokens))
    assert scored.tokens == best.tokens and scored.finished
    assert scored.score == pytest.approx(best.score, abs=1e-4) and scored.attention is not None
    (from_list,) = model.score([best.source], [best.text], attention=False)
    assert from_list.score == scored.score
    with refused():
        model.score(["w3", "w4"], ["w5"])


def test_plot_of_translation(model, tmp_path, monkeypatch):
    translation = model.translate("w3 w4 w5.")
    for suffix, magic in ((".png", b"\x89PNG"), (".pdf", b"%PDF"), (".svg", b"<?xml")):
        path = tmp_path / f"matrix{suffix}"
        figure = translation.plot(path)
        content = path.read_bytes()
        assert content.startswith(magic)
        with monkeypatch.context() as later:
            later.setenv("SOURCE_DATE_EPOCH", "1")  # the time that matplotlib takes for now
            translation.plot(path)
        assert path.read_bytes() == content
    assert figure._repr_png_().startswith(b"\x89PNG")
    (image,) = figure.axes[0].images
    assert np.array_equal(image.get_array(), translation.attention)
    labels = [label.get_text() for label in figure.axes[0].get_xticklabels()]
    assert labels == translation.source_tokens
    with refused():
        translation.plot(tmp_path / "matrix.txt")
    with refused():
        model.translate("").plot()


def test_plots_of_command(folder, tmp_path):
    """There is a file for each line with words."""
    text = tmp_path / "text"
    text.write_text("w3 w4\n\nw5\n", encoding="utf-8")
    command = ["translate", "--model", folder, "--device", "cpu", text, "--plot"]
    assert not said(*command, tmp_path / "m.png")
    assert sorted(path.name for path in tmp_path.glob("m*")) == ["m-3.png", "m.png"]
    assert said(*command, tmp_path / "m.gif")


WITHOUT_PACKAGES = """
import sys
from nmt.cli import main

class Refuse:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in %r:
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)

sys.meta_path.insert(0, Refuse())
main()
"""


def test_translation_without_workflow_packages(folder, tmp_path):
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    workflow_packages = named(project["optional-dependencies"]["workflow"])
    assert "snakemake" in workflow_packages and not workflow_packages & named(project["dependencies"])
    code = WITHOUT_PACKAGES % sorted(workflow_packages | {"markdown_it", "tensorboardX"})

    plot = tmp_path / "matrix.png"
    options = ["--model", folder, "--plot", plot, "--alignment", "pharaoh"]
    result = run_python("-c", code, "translate", *options, input="w3 w4\n")
    assert result.returncode == 0 and plot.exists(), result.stderr
    assert run_python("-c", code, "--help").returncode == 0
    result = run_python("-c", code, "status", tmp_path)
    assert result.returncode == 2 and result.stderr.startswith("error: ")


@pytest.mark.skipif(not processor_supports("bf16"), reason="the processor has no instructions for bf16")
def test_models_of_different_precision_in_threads(folder):
    models = [nmt.load(folder, device="cpu", precision=precision) for precision in ("fp32", "bf16")]
    expected = [model.translate(LINES) for model in models]
    assert expected[0] != expected[1]
    with ThreadPoolExecutor(8) as threads:
        results = threads.map(lambda number: models[number % 2].translate(LINES), range(48))
    for number, translations in enumerate(results):
        assert translations == expected[number % 2]


@pytest.mark.parametrize("text", [None, b"w2", ["w2", None], ["w2", float("nan")], [b"w2"]])
def test_what_is_no_text_is_refused(text):
    with refused():
        check_lines("translate", text)


@pytest.mark.parametrize("text", ["w2.\n\nw3.", ["w2", "w3\r\nw4"]])
def test_several_lines_in_one_string_are_refused(text):
    with refused():
        check_lines("translate", text)


def test_lines_of_any_collection():
    lines = ["w2\r\n", "", "a carriage return\rin a line"]
    assert check_lines("translate", iter(lines)) == lines
