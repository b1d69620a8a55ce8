"""The table of the corpora, on text whose every number is counted by hand."""

from contextlib import chdir
from pathlib import Path
from typing import Any

from nmt.data.vocabulary import Vocabulary
from nmt.io.files import write_json
from nmt.settings.text import Languages
from pipeline.preparation import StageCounts
from pipeline.results.corpora import CorpusFiles, build_corpora_table, sum_corpus_counts
from pipeline.results.tables.writer import render_markdown

VOCABULARIES = (
    Vocabulary([("the", 5), ("cat", 3), ("sat", 2)]),
    Vocabulary([("le", 5), ("chat", 3)]),
)
LANGUAGES = Languages(source="en", target="fr")
# two shards of two lines; the fourth pair has lost its source in the cleaning, the second is not selected
TOKENS = [
    [("the cat sat", "le chat était assis"), ("a dog", "un chien")],
    [("the the cat , the", "le chat"), ("", "")],
]
SELECTED = [[TOKENS[0][0]], TOKENS[1]]


def write_stage(folder: Path, corpus: str, shard: int, name: str, pairs: Any, **more: Any) -> None:
    counts = StageCounts()
    for pair in pairs:
        counts.add(*pair)
    stage_folder = folder / name / corpus
    counts.write_words(stage_folder / f"{shard}.en.words.zst", stage_folder / f"{shard}.fr.words.zst")
    write_json(stage_folder / f"{shard}.counts.json", {"stage": counts.as_dict(name), **more})


def write_counts(folder: Path) -> None:
    """Write the counts of a training corpus of two shards and of a test corpus of one."""
    write_json(folder / "raw/tiny/counts.json", {"pairs": 4, "source_words": 10, "target_words": 9})
    for shard, clean in enumerate(({"kept": 2, "empty": 0}, {"kept": 1, "empty": 1})):
        clean = clean | {"pairs": 2, "kept_source_words": 4, "kept_target_words": 3, "source_words": 5}
        write_stage(folder, "tiny", shard, "tokens", TOKENS[shard], clean=clean)
        write_stage(folder, "tiny", shard, "selected", SELECTED[shard])
    write_json(folder / "overlap/tiny.json", {"exam_same_both": 1})
    write_json(folder / "raw/exam/counts.json", {"pairs": 1, "source_words": 2, "target_words": 2})
    clean = {"pairs": 1, "kept": 1, "empty": 0, "kept_source_words": 2, "kept_target_words": 2}
    write_stage(folder, "exam", 0, "tokens", [("the cat", "le lit")], clean=clean)


def test_numbers_of_corpora_table(tmp_path: Path) -> None:
    write_counts(tmp_path / "data")
    tiny, exam = (
        CorpusFiles("tiny", "train", 2, ["tokens", "selected"]),
        CorpusFiles("exam", "test", 1, ["tokens"]),
    )
    with chdir(tmp_path):
        corpora = [sum_corpus_counts(files, ("en", "fr"), VOCABULARIES) for files in (tiny, exam)]
    paper = {"tokens": {"tiny": 100, "total": 200}, "selected": {"tiny": 60, "total": 150}}
    table = build_corpora_table([*corpora, {**corpora[0], "name": "other"}], LANGUAGES, paper)
    values = [tuple(record.values()) for record in table.records]
    rows = {(row[1], row[2]): row[3:] for row in values}
    assert rows["tiny", "raw"] == ("words", 4, 10, 9, None, None, None)
    assert rows["tiny", "clean"] == ("words", 3, 8, 6, None, None, None)
    assert rows["tiny", "tokens"] == ("tokens", 3, 10, 8, None, None, 100)
    assert rows["tiny", "selected"] == ("tokens", 2, 8, 6, 1 / 8, 0.333333, 60)
    assert rows["total", "tokens"] == ("tokens", 6, 20, 16, None, None, 200)
    assert rows["total", "selected"] == ("tokens", 4, 16, 12, 1 / 8, 0.333333, 150)
    assert rows["exam", "tokens"] == ("tokens", 1, 2, 2, 0.0, 0.5, None)
    page = " ".join(render_markdown(table).split())
    assert "| train | tiny | selected | 2 | 8 | 6 | 12.50% | 33.33% | 60 |" in page
    assert "tiny: removed pairs: empty 1; pairs that share a sentence with held-out text" in page
    assert "exam same both 1." in page
