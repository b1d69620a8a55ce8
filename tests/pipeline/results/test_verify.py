"""What `nmt verify` compares without making anything again."""

from __future__ import annotations

from pathlib import Path

from pipeline.results.verify import PAPERS, other_paper


def test_a_papers_file_may_have_other_comments_but_not_other_numbers(tmp_path: Path) -> None:
    ours, published = PAPERS / "bahdanau2015.yaml", tmp_path / "bahdanau2015.yaml"
    text = ours.read_text(encoding="utf-8")
    published.write_text(f"# of an earlier version\n{text}", encoding="utf-8")
    assert other_paper(published, ours) == []
    published.write_text(text.replace("28.45", "48.45"), encoding="utf-8")
    (line,) = other_paper(published, ours)
    assert "48.45" in line and str(ours) in line
