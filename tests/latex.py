"""What the LaTeX of a table must be, for tests."""

import shutil
import subprocess
import tempfile
from pathlib import Path

import pytest

from pipeline.results.tables.latex import make_document, render_latex
from pipeline.results.tables.table import Table


def assert_compiles(**tables: Table) -> None:
    """Compile the document of some tables with pdflatex, if it is installed; nothing may stick out."""
    latex = shutil.which("pdflatex")
    if latex is None:
        pytest.skip("pdflatex is not installed")
    with tempfile.TemporaryDirectory() as folder:
        for stem, table in tables.items():
            Path(folder, f"{stem}.tex").write_text(render_latex(table), encoding="utf-8")
        Path(folder, "tables.tex").write_text(make_document(tables), encoding="utf-8")
        command = [latex, "-interaction=nonstopmode", "-halt-on-error", "tables.tex"]
        result = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    if "File `adjustbox.sty' not found" in result.stdout:
        pytest.skip("LaTeX's package adjustbox is not installed")
    assert result.returncode == 0, result.stdout[-2000:]
    assert "Overfull" not in result.stdout
