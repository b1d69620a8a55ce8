"""The report on the text, on a corpus whose every number is counted by hand."""

from __future__ import annotations

import shutil
from collections import Counter
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from click.testing import CliRunner
from hypothesis import given
from hypothesis import strategies as st

from nmt.cli import commands
from nmt.data.stage_counts import StageCounts
from nmt.data.vocabulary import Vocabulary
from nmt.errors import UserError
from nmt.io.files import read_json, write_json
from pipeline.results.corpora import COLUMNS, Corpus, Lengths, Report, read_report, rows
from pipeline.results.corpora_page import write_markdown
from pipeline.results.papers import ReportedData, read_paper
from pipeline.results.statistics import (
    CorpusFiles,
    added,
    coverage,
    sizes,
    sum_corpora,
    sum_corpus,
)
from tests.messages import refused
from tests.plain_csv import read_plain
from tests.running import ROOT

SOURCE_WORDS = Vocabulary([("the", 5), ("cat", 3), ("sat", 2)])
TARGET_WORDS = Vocabulary([("le", 5), ("chat", 3)])

# two shards of two lines; the fourth pair has lost its source in the cleaning, the second is not selected
TOKENS = [
    [("the cat sat", "le chat était assis"), ("a dog", "un chien")],
    [("the the cat , the", "le chat"), ("", "")],
]
SELECTED = [[TOKENS[0][0]], TOKENS[1]]


Pairs = list[tuple[str, str]]


def write_stage(folder: Path, corpus: str, shard: int, name: str, pairs: Pairs, **more: Any) -> None:
    counts = StageCounts()
    for pair in pairs:
        counts.add(*pair)
    place = folder / name / corpus
    counts.write_words(place / f"{shard}.en.words.zst", place / f"{shard}.fr.words.zst")
    write_json(place / f"{shard}.counts.json", {"stage": counts.as_dict(name), **more})


@pytest.fixture(scope="module")
def counts(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A training corpus of two shards and a test corpus of one, counted and added up."""
    folder = tmp_path_factory.mktemp("data")
    raw = {"pairs": 4, "source_words": 10, "target_words": 9, "source_md5": "a" * 32, "target_md5": "b" * 32}
    archive = {"bytes": 12345, "sha256": "c" * 64, "checked": ["bytes"]}
    write_json(folder / "raw/tiny/counts.json", raw | {"archives": {"data/archives/x.tgz": archive}})
    cleaned = [
        {"pairs": 2, "kept": 2, "empty": 0, "ratio": 0, "source_carriage_return": 1},
        {"pairs": 2, "kept": 1, "empty": 1, "ratio": 0, "source_carriage_return": 0},
    ]
    for shard, clean in enumerate(cleaned):
        clean = clean | {"kept_source_words": 4, "kept_target_words": 3}
        write_stage(folder, "tiny", shard, "tokens", TOKENS[shard], clean=clean, overlap={})
        write_stage(folder, "tiny", shard, "selected", SELECTED[shard])
    write_json(folder / "raw/exam/counts.json", {"pairs": 1, "source_words": 2, "target_words": 2})
    clean = {"pairs": 1, "kept": 1, "empty": 0, "kept_source_words": 2, "kept_target_words": 2}
    write_stage(folder, "exam", 0, "tokens", [("the cat", "le lit")], clean=clean, overlap={})
    SOURCE_WORDS.write(folder / "en.tsv")
    TARGET_WORDS.write(folder / "fr.tsv")
    corpora = [tiny(folder), CorpusFiles("exam", "test", 1, ["tokens"], folder)]
    sum_corpora(corpora, ("en", "fr"), (folder / "en.tsv", folder / "fr.tsv"), folder / "counts.json")
    return folder / "counts.json"


def tiny(folder: Path) -> CorpusFiles:
    return CorpusFiles("tiny", "train", 2, ["tokens", "selected"], folder)


def report_of(counts: Path, paper: ReportedData | None = None) -> Report:
    return read_report(counts, [4, 3], paper or ReportedData())


@pytest.mark.parametrize(
    ("words", "expected"),
    [(1, [1]), (10, [10]), (11, [10, 11]), (300, [10, 20, 50, 100, 200, 300])],
)
def test_coverage_is_counted_at_round_sizes_and_at_the_vocabularys_own(
    words: int, expected: list[int]
) -> None:
    assert sizes(words) == expected


def test_every_number_of_the_report(counts: Path) -> None:
    (tiny, exam) = report_of(counts).corpora
    volumes = [(volume.stage, volume.unit, volume.pairs, volume.words) for volume in tiny.volumes]
    assert volumes == [
        ("raw", "words", 4, (10, 9)),
        ("clean", "words", 3, (8, 6)),
        ("tokens", "tokens", 3, (10, 8)),
        ("selected", "tokens", 2, (8, 6)),
    ]
    assert tiny.removed == {"empty": 1, "ratio": 0, "no_token": 0, "not_selected": 1}
    assert tiny.repaired == {"source_carriage_return": 1}
    within = [tiny.within(limit) for limit in (3, 4, 5)]
    assert [(volume.pairs, volume.words) for volume in within] == [(0, (0, 0)), (1, (3, 4)), (2, (8, 6))]
    assert tiny.unknown_rate("source") == 1 / 8 and tiny.unknown_rate("target") == 2 / 6
    assert exam.unknown_rate("target") == 1 / 2
    assert exam.coverage("source") == {3: 1.0}
    types = exam.types("target")
    assert types and (types.all, types.unknown, types.covered) == (2, 1, 0.5)
    assert tiny.types("target") is None
    lengths = tiny.lengths("source")
    assert (lengths.mean, lengths.quantile(0.5), lengths.quantile(1)) == (4, 3, 5)


def test_the_csv_has_every_number_and_says_what_a_word_is(counts: Path, tmp_path: Path) -> None:
    paper = ReportedData(corpora={"tiny": 100}, total=200, selected=150, selected_corpora={"tiny": 60})
    report = report_of(counts, paper)
    facts = {row[:5]: row[5:] for row in rows(report)}
    write_markdown(report, tmp_path / "d.md", "d.png")
    page = " ".join((tmp_path / "d.md").read_text(encoding="utf-8").split())
    assert (
        "| tokens, words, fr | tokens, reported, fr | selected, words, fr | selected, reported, fr |" in page
    )
    assert "| tiny | 8 | 100 | 6 | 60 |" in page
    assert facts["train", "tiny", "selected", "words", "target"] == ("tokens", 6, 60)
    assert facts["train", "tiny", "clean", "words", "target"] == ("words", 6, None)
    assert facts["train", "tiny", "tokens", "words", "target"] == ("tokens", 8, 100)
    assert facts["train", "tiny", "tokens", "words", "source"] == ("tokens", 10, None)
    assert facts["train", "total", "tokens", "words", "target"] == ("tokens", 8, 200)
    assert facts["train", "total", "selected", "words", "target"] == ("tokens", 6, 150)
    assert facts["train", "tiny", "removed", "not_selected", ""] == ("pairs", 1, None)
    assert facts["train", "tiny", "within_4", "words", "target"] == ("tokens", 4, None)
    assert facts["train", "tiny", "raw", "md5", "source"] == ("", "a" * 32, None)
    assert facts["", "data/archives/x.tgz", "archive", "bytes", ""] == ("", 12345, None)
    assert facts["test", "exam", "tokens", "unknown_rate", "target"] == ("share", 0.5, None)
    assert facts["test", "exam", "tokens", "types", "target"] == ("types", 2, None)
    assert facts["test", "exam", "tokens", "unknown_types", "target"] == ("types", 1, None)
    assert facts["test", "exam", "tokens", "types_covered", "target"] == ("share", 0.5, None)
    assert facts["test", "exam", "tokens", "types_covered", "source"] == ("share", 1, None)


def made(folder: Path, counts: Path, *options: str) -> dict[str, bytes]:
    """What the subcommand writes, by name."""
    folder.mkdir()
    names = {"csv": "d.csv", "lengths": "l.csv", "md": "d.md", "pdf": "d.pdf", "png": "d.png"}
    files = [word for form, name in names.items() for word in (f"--output-{form}", str(folder / name))]
    arguments = ["data", "report", "--counts", str(counts), *options, *files]
    assert CliRunner().invoke(commands, arguments, catch_exceptions=False).exit_code == 0
    return {name: (folder / name).read_bytes() for name in names.values()}


def test_the_page_and_the_same_bytes_twice(counts: Path, tmp_path: Path) -> None:
    options = ["--limit", "4", "--paper", str(ROOT / "workflow" / "papers" / "bahdanau2015.yaml")]
    first, second = (made(tmp_path / name, counts, *options) for name in ("1", "2"))
    assert first == second
    page = " ".join(first["d.md"].decode().split())
    assert "| part | corpus | raw | clean | tokens | selected | ≤ 4 |" in page
    assert "| train | tiny | 10 | 8 | 10 | 8 | 3 |" in page  # words of the source
    assert "| test | exam | 2 | 2 | 2 | | |" in page
    assert "| total |" not in page  # of one corpus
    assert "Each removed pair is counted once. None for: ratio, no token." in page
    assert "| train | tiny | 1 | 1 |" in page  # empty, not selected
    assert "| part | corpus | carriage return, en |" in page
    assert "| test | exam | 0 | 0.00% | 1 | 50.00% | 2 | 0 | 100.00% | 2 | 1 | 50.00% |" in page
    assert "| train | tiny | en | 4.0 | 3 | 5 | 5 | 5 |" in page
    assert "| data/archives/x.tgz | 12,345 | bytes | cccc" in page
    assert f"| tiny | {'a' * 32} | {'b' * 32} |" in page
    lengths = read_plain(tmp_path / "1" / "l.csv", ["part", "side", "length", "sentences"], {"part", "side"})
    assert ["train", "target", 4, 1] in lengths.to_numpy().tolist()
    numbers = read_plain(tmp_path / "1" / "d.csv", COLUMNS, {*COLUMNS} - {"reported"})
    assert pd.to_numeric(numbers[numbers["unit"].notna()]["value"]).notna().all()  # the others are sums
    assert numbers["measure"].str.fullmatch("[a-z0-9_]+").all()
    assert first["d.png"].startswith(b"\x89PNG") and first["d.pdf"].startswith(b"%PDF")
    assert b"/Type3" not in first["d.pdf"]


def test_nothing_is_reported_that_is_not_asked_for(counts: Path, tmp_path: Path) -> None:
    write_markdown(read_report(counts, [], ReportedData()), tmp_path / "d.md", "d.png")
    page = (tmp_path / "d.md").read_text(encoding="utf-8")
    assert "eported" not in page and "≤" not in page


def test_the_papers_corpora_are_those_of_the_settings_and_add_up() -> None:
    paper = read_paper(ROOT / "workflow" / "papers" / "bahdanau2015.yaml").data
    config = (ROOT / "config.yaml").read_text(encoding="utf-8")
    assert all(f"\n  {corpus}:" in config for corpus in paper.corpora)
    assert sum(paper.corpora.values()) == paper.total
    assert paper.selected_corpora.keys() == paper.corpora.keys()
    assert sum(paper.selected_corpora.values()) == pytest.approx(paper.selected, rel=1e-3)


@pytest.mark.parametrize(
    ("file", "part", "change"),
    [
        ("raw/tiny/counts.json", None, {"pairs": 5}),
        ("tokens/tiny/0.counts.json", "clean", {"kept": 1}),
        ("tokens/tiny/0.counts.json", "clean", {"kept": 0, "empty": 2}),
    ],
)
def test_counts_that_do_not_fit_one_another_are_refused(
    counts: Path, tmp_path: Path, file: str, part: str | None, change: dict[str, int]
) -> None:
    folder = shutil.copytree(counts.parent, tmp_path / "changed")
    values = read_json(folder / file)
    write_json(folder / file, values | ({part: values[part] | change} if part else change))
    with pytest.raises(UserError, match="inconsistent"):
        sum_corpus(tiny(folder), ("en", "fr"), (SOURCE_WORDS, TARGET_WORDS))


def test_counts_of_another_form_are_refused(tmp_path: Path) -> None:
    with refused():
        added({"a": 1}, {"a": [1]})
    with refused():
        added({"name": "tokens"}, {"name": "selected"})
    (tmp_path / "counts.json").write_text("[]", encoding="utf-8")
    with refused():
        report_of(tmp_path / "counts.json")


@given(counts=st.dictionaries(st.integers(1, 80), st.integers(1, 50), min_size=1))
def test_quantiles_and_shares_are_those_of_the_sorted_lengths(counts: dict[int, int]) -> None:
    lengths = Lengths(counts)
    sentences = sorted(length for length, number in counts.items() for _ in range(number))
    for share in (0.01, 0.5, 0.95, 1):
        found = lengths.quantile(share)
        assert found is not None
        assert sum(length <= found for length in sentences) >= share * len(sentences)
        assert sum(length < found for length in sentences) < share * len(sentences)


def test_an_empty_selection_is_no_division_by_zero() -> None:
    stage = StageCounts().as_dict("tokens")
    for side, words in (("source", SOURCE_WORDS), ("target", TARGET_WORDS)):
        stage[side] |= coverage(Counter(), words, types=False)
    corpus = Corpus("x", "dev", {"stages": [stage]})
    assert corpus.unknown_rate("source") is None and corpus.coverage("target") == {}
    assert corpus.types("source") is None
    assert corpus.lengths("source").quantile(0.5) is None and corpus.within(30).pairs == 0
