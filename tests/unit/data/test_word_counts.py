from __future__ import annotations

import tempfile
from collections import Counter
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nmt.data import vocabulary, word_counts
from tests.bitexts import write_text

LINES = st.lists(st.lists(st.text("abé\x01𝄞", min_size=1, max_size=3)))


@given(lines=LINES, room=st.integers(0, 5))
def test_what_waits_on_the_disk_is_counted_too(lines: list[list[str]], room: int) -> None:
    with pytest.MonkeyPatch.context() as patch, tempfile.TemporaryDirectory() as folder:
        patch.setattr(word_counts, "IN_MEMORY", room)
        counts = word_counts.WordCounts(Path(folder))
        for line in lines:
            counts.add(line)
        found = list(counts)
    assert dict(found) == Counter(word for line in lines for word in line)
    assert len(found) == len(dict(found))


def test_a_vocabulary_does_not_depend_on_the_memory_there_is(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    text = tmp_path / "text.zst"
    write_text(text, (f"w{line % 7} w{line % 31} w{line} [UNK] </s>" for line in range(300)))
    vocabulary.build([text], 50, False, tmp_path / "whole.tsv")
    monkeypatch.setattr(word_counts, "IN_MEMORY", 20)
    vocabulary.build([text], 50, False, tmp_path / "pieces.tsv")
    assert (tmp_path / "pieces.tsv").read_bytes() == (tmp_path / "whole.tsv").read_bytes()
    assert {path.name for path in tmp_path.iterdir()} == {"text.zst", "whole.tsv", "pieces.tsv"}
