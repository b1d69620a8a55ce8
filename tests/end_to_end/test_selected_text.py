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
"""


OWN_BUDGET = """
use: {train: [demo-train, more]}
corpora: {more: {grammar: {split: train, pairs: 300}, shards: 2}}
selection: {corpus_words: {more: 700}}
"""


def selected(folder: Path, *config: str) -> tuple[list[tuple[str, str]], dict[str, object]]:
    """Run the selection; the pairs kept, and the threshold."""
    options = ["--configfile", str(folder / "tiny.yaml"), str(folder / "select.yaml"), "--config", *config]
    result = snakemake(folder, *options, "--cores", "2", "--", "data")
    assert result.returncode == 0, result.stdout
    files = (folder / f"data/selected/demo-train/0.{side}.zst" for side in ("en", "fr"))
    pairs = [pair for pair in read_pairs(*files) if all(pair)]
    return pairs, json.loads((folder / "data/selection/threshold.json").read_text(encoding="utf-8"))


def test_the_budget_is_kept_and_the_models_know_the_words_they_are_told(tmp_path: Path) -> None:
    make_demo(tmp_path)
    (tmp_path / "select.yaml").write_text(SELECT, encoding="utf-8")
    pairs, threshold = selected(tmp_path, "corpora={demo-train: {shards: 1}}")
    words = sum(len(french.split()) for _, french in pairs)
    assert 2900 < words <= 3000
    assert threshold["target_words"] == words
    assert 0 < len(pairs) < 400
    known = "selection={lm_vocabulary: in_domain}"
    other, _ = selected(tmp_path, "corpora={demo-train: {shards: 1}}", known)
    assert other != pairs
    counts = Counter(
        word for line in read_lines(tmp_path / "data/tokens/demo-dev/0.fr.zst") for word in line.split()
    )
    for domain in ("in", "out"):
        words = kenlm.known_words(sorted(counts), tmp_path / f"data/selection/lm/{domain}.fr.binary")
        assert len(words) > 20 and all(counts[word] > 1 for word in words)


def test_a_corpus_with_a_budget_of_its_own_takes_nothing_from_the_others(tmp_path: Path) -> None:
    overlay = make_demo(tmp_path)
    (tmp_path / "select.yaml").write_text(SELECT, encoding="utf-8")
    (tmp_path / "own.yaml").write_text(OWN_BUDGET, encoding="utf-8")
    files = [str(overlay), str(tmp_path / "select.yaml"), str(tmp_path / "own.yaml")]
    result = snakemake(tmp_path, "--configfile", *files, "--cores", "2", "--", "data")
    assert result.returncode == 0, result.stdout
    for corpus, budget in (("demo-train", 3000), ("more", 700)):
        french = sorted((tmp_path / "data" / "selected" / corpus).glob("*.fr.zst"))
        assert len(french) == 2
        words = sum(len(line.split()) for file in french for line in read_lines(file))
        assert budget - 100 < words <= budget
    binary = json.loads((tmp_path / "data" / "binary" / "train" / "meta.json").read_text(encoding="utf-8"))
    assert 3500 < binary["target_words"] <= 3700

    def made_again(setting: str) -> set[str]:
        options = ["--configfile", *files, "--config", f"selection={{{setting}}}", "-n", "--", "data"]
        output = snakemake(tmp_path, *options).stdout
        return {rule for rule in ("sample_out_of_domain", "threshold") if scheduled(output, rule)}

    assert made_again("target_words: 3000") == set()
    assert made_again("target_words: 2000") == {"threshold"}
    assert made_again("sample_pairs: 10") == {"sample_out_of_domain", "threshold"}
