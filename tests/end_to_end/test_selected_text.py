"""Data selection by the rules with real language models."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path

import pytest

from nmt.io.text_files import read_lines, read_pairs
from tests import kenlm
from tests.running import make_demo, scheduled, snakemake


@pytest.fixture(autouse=True)
def programs() -> Path:
    """KenLM's programs, where the workflow looks for them."""
    return kenlm.programs()


SELECT = """
selection: {enabled: true, in_domain: [demo-dev], order: 3, target_words: 3000, discount_fallback: true}
corpora: {demo-train: {shards: 1}}
"""


def snakemake_data(folder: Path, setting: str, *options: str) -> str:
    """What Snakemake says of the prepared text with one more setting of the selection."""
    files = ["--configfile", str(folder / "tiny.yaml"), str(folder / "select.yaml")]
    result = snakemake(folder, *files, "--config", f"selection={{{setting}}}", *options, "--", "data")
    assert result.returncode == 0, result.stdout
    return result.stdout


def selected(folder: Path, setting: str = "") -> tuple[list[tuple[str, str]], dict[str, object]]:
    """Run the selection; the pairs kept, and the threshold."""
    snakemake_data(folder, setting, "--cores", "2")
    files = (folder / f"data/selected/demo-train/0.{side}.zst" for side in ("en", "fr"))
    pairs = [pair for pair in read_pairs(*files) if all(pair)]
    return pairs, json.loads((folder / "data/selection/threshold.json").read_text(encoding="utf-8"))


def test_the_budget_is_kept_and_the_models_know_the_words_they_are_told(tmp_path: Path) -> None:
    make_demo(tmp_path)
    (tmp_path / "select.yaml").write_text(SELECT, encoding="utf-8")
    pairs, threshold = selected(tmp_path)
    words = sum(len(french.split()) for _, french in pairs)
    assert 2900 < words <= 3000
    assert threshold["target_words"] == words
    assert 0 < len(pairs) < 400
    for setting, expected in {
        "target_words: 3000": set(),
        "target_words: 2000": {"threshold"},
        "sample_pairs: 10": {"sample_out_of_domain", "threshold"},
    }.items():
        output = snakemake_data(tmp_path, setting, "-n")
        assert {rule for rule in ("sample_out_of_domain", "threshold") if scheduled(output, rule)} == expected
    other, _ = selected(tmp_path, "lm_vocabulary: in_domain")
    assert other != pairs
    counts = Counter(
        word for line in read_lines(tmp_path / "data/tokens/demo-dev/0.fr.zst") for word in line.split()
    )
    for domain in ("in", "out"):
        words = kenlm.known_words(sorted(counts), tmp_path / f"data/selection/lm/{domain}.fr.binary")
        assert len(words) > 20 and all(counts[word] > 1 for word in words)
