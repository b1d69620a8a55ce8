"""The notebook of docs/ runs as it stands, on a model of a few units in the demo's place."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import nbformat
import pytest
from nbclient import NotebookClient

from tests.running import ROOT
from tests.translators import trained_model

NOTEBOOK = ROOT / "docs" / "python.ipynb"


def test_the_notebook_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    model = trained_model(tmp_path / "trained")
    place = tmp_path / "experiments" / "demo" / "models" / "rnnsearch-50"
    place.parent.mkdir(parents=True)
    shutil.move(model, place)
    (tmp_path / "docs").mkdir()
    monkeypatch.setenv("PYTHONPATH", f"{ROOT}{os.pathsep}{os.environ.get('PYTHONPATH', '')}")
    monkeypatch.setenv("IPYTHONDIR", str(tmp_path / "ipython"))
    notebook = nbformat.read(NOTEBOOK, as_version=4)
    client = NotebookClient(notebook, timeout=300, resources={"metadata": {"path": str(tmp_path / "docs")}})
    client.execute()
    outputs = [output for cell in notebook.cells for output in cell.get("outputs", [])]
    assert any("image/png" in output.get("data", {}) for output in outputs)
    assert len([output for output in outputs if output.output_type == "stream"]) == 2


def test_the_notebook_is_stored_as_it_ran(tmp_path: Path) -> None:
    """A reader sees translations and a matrix without running anything, and no path of somebody's machine."""
    text = NOTEBOOK.read_text(encoding="utf-8")
    notebook = nbformat.reads(text, as_version=4)
    cells = [cell for cell in notebook.cells if cell.cell_type == "code"]
    assert all(cell.outputs or "import" in cell.source for cell in cells)
    assert "/root/" not in text and "/home/" not in text and "Traceback" not in text
