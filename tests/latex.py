"""What the LaTeX of a table must be, for tests."""

from __future__ import annotations

import re
import shutil
import subprocess
import tempfile
from pathlib import Path

import pytest


def unescaped_specials(tex: str) -> list[str]:
    """Specials in a tabular's rows that are neither escaped nor ours (cell separators, mathematics)."""
    body = tex.split("\\toprule")[1].split("\\bottomrule")[0]
    ours = r"\$\^\{(\\circ|5)\}\$|\$(\\times|\\pm|\\Delta|-)\$| & | \\\\|\\midrule"
    plain = re.sub(r"\\[&%$#_{}]|\\text[a-z]+\{\}", "", re.sub(ours, "", body))
    return re.findall(r"[\\&%$#_{}~^]", plain)


def assert_compiles(tex: Path) -> None:
    """Compile with pdflatex, where it is installed; nothing may stick out."""
    latex = shutil.which("pdflatex")
    if latex is None:
        pytest.skip("pdflatex is not installed")
    # not beside the table, whose figure may have its name
    with tempfile.TemporaryDirectory() as folder:
        options = ["-interaction=nonstopmode", "-halt-on-error", f"-output-directory={folder}"]
        command = [latex, *options, str(tex)]
        result = subprocess.run(command, capture_output=True, text=True, check=False)
    if "File `standalone.cls' not found" in result.stdout:
        pytest.skip("LaTeX's package standalone is not installed")
    assert result.returncode == 0, result.stdout[-2000:]
    assert "Overfull" not in result.stdout
