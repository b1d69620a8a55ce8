"""The lecture in docs/ runs as it stands, on models of a few units in the demo's place, and is stored as it ran."""

import os
import re
import shutil

import nbformat
from nbclient import NotebookClient

from tests.running import ROOT
from tests.translators import trained_model

NOTEBOOK = ROOT / "docs" / "attention.ipynb"
MODELS = {"rnnsearch-50": "rnnsearch", "rnnencdec-50": "rnnencdec"}
DRAWS = re.compile(r"^(plot_matrix\(|plt\.show)", re.MULTILINE)


def cells(notebook: nbformat.NotebookNode) -> list[nbformat.NotebookNode]:
    return [cell for cell in notebook.cells if cell.cell_type == "code"]


def test_the_lecture_runs(tmp_path, monkeypatch):
    models = tmp_path / "experiments" / "demo" / "models"
    models.mkdir(parents=True)
    for name, model_type in MODELS.items():
        shutil.move(trained_model(tmp_path / model_type, model_type), models / name)
    (tmp_path / "docs").mkdir()
    monkeypatch.setenv("PYTHONPATH", f"{ROOT}{os.pathsep}{os.environ.get('PYTHONPATH', '')}")
    monkeypatch.setenv("IPYTHONDIR", str(tmp_path / "ipython"))
    notebook = nbformat.read(NOTEBOOK, as_version=4)
    client = NotebookClient(notebook, timeout=300, resources={"metadata": {"path": str(tmp_path / "docs")}})
    client.execute()
    drawn = [str(cell.outputs) for cell in cells(notebook) if DRAWS.search(cell.source)]
    assert len(drawn) >= 8 and all("image/png" in outputs for outputs in drawn)
