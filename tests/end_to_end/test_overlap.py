"""Training text that holds the development text: the workflow counts it, and drops it if asked."""

from __future__ import annotations

import json
from pathlib import Path

from nmt.data.bitext import Bitext
from tests.running import make_demo, snakemake

PLANTED = """
# The grammar writes the same sentences for the same part.
use: {train: [demo-train, planted]}
corpora: {planted: {grammar: {split: dev, pairs: 20}}}
"""


def prepared(folder: Path, drop: str) -> tuple[int, dict[str, int]]:
    """Pairs of the binary training text, and what was counted of the development text's shard."""
    overlay = make_demo(folder)
    (folder / "planted.yaml").write_text(PLANTED, encoding="utf-8")
    options = ["--configfile", str(overlay), str(folder / "planted.yaml"), "--cores", "2"]
    options += ["--config", f"overlap={{drop: {drop}}}"]
    result = snakemake(folder, *options, "--", "data")
    assert result.returncode == 0, result.stdout
    counts = json.loads((folder / "data/overlap/planted/0.json").read_text(encoding="utf-8"))
    return len(Bitext.open(folder / "data" / "binary" / "train")), counts


def test_what_overlaps_is_counted_and_dropped(tmp_path: Path) -> None:
    pairs, counts = prepared(tmp_path, "none")
    assert (pairs, counts["dropped"]) == (420, 0)
    assert counts["demo-dev_same_both"] == 20
    assert "| planted" in (tmp_path / "results/data.md").read_text(encoding="utf-8")
    pairs, counts = prepared(tmp_path, "both")
    assert (pairs, counts["dropped"]) == (400, 20)
    assert "Dropped were 20 pairs" in (tmp_path / "results/data.md").read_text(encoding="utf-8")
