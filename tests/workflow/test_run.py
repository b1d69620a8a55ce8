"""What `make demo` and its like print at the end."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from workflow.run import show


def test_show_prints_tables_rates_and_paths(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
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
    (tmp_path / "table1.md").write_text("| Modèle |\n|:--|\n", encoding="utf-8")
    show([tmp_path / "table1.md", tmp_path / "rnnsearch-50.json", tmp_path / "figure2.png"])
    out = capsys.readouterr().out
    assert out.startswith(f"\n{tmp_path / 'table1.md'}\n\n| Modèle |\n|:--|\n")
    assert "rnnsearch-50: 5.1% on 1,000 sentences (a plain diagonal 40.0%, the same position 50.0%)" in out
    assert str(tmp_path / "figure2.png") in out
