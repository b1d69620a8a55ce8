"""A shard from raw text to tokens, with all that is counted on the way."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

from nmt.data.preparation import prepare
from nmt.data.vocabulary import read_word_counts
from nmt.io.files import read_json
from nmt.io.text_files import read_lines
from nmt.settings.text import Cleaning, Languages, Tokenization
from tests.bitexts import write_pairs

LANGUAGES = Languages(source="en", target="fr")


def prepared(
    folder: Path, source: bytes, target: bytes, tokenized: bool = False, **limits: Any
) -> tuple[list[tuple[str, str]], dict[str, Any]]:
    """The pairs of tokens, and the counts."""
    (folder / "s").write_bytes(source)
    (folder / "t").write_bytes(target)
    held_out = {"test": [write_pairs(folder, "test", [("It &apos;s me .", "C&apos; est moi ."), ("", "")])]}
    outputs, words = (folder / "s.zst", folder / "t.zst"), (folder / "s.words.zst", folder / "t.words.zst")
    tokenization, cleaning = None if tokenized else Tokenization(), Cleaning(**limits)
    raw, counts = (folder / "s", folder / "t"), folder / "counts.json"
    prepare(raw, LANGUAGES, cleaning, tokenization, held_out, outputs, words, counts)
    pairs = [*zip(*map(read_lines, outputs), strict=True)]
    for side, path in enumerate(words):
        assert read_word_counts([path]) == Counter(
            word for pair in pairs if all(pair) for word in pair[side].split()
        )
    return pairs, read_json(counts)


def test_a_shard_by_hand(tmp_path: Path) -> None:
    source = b"It's me.\r\nit 's ME\n\nToo long a line.\nNew.\n"
    target = "C'est moi.\nautre\u2028chose\nseul\nTrop.\nNeuf.\n".encode()
    pairs, counts = prepared(tmp_path, source, target, max_ratio=3.0)
    assert pairs == [
        ("It &apos;s me .", "C&apos; est moi ."),
        ("it &apos; s ME", "autre chose"),
        ("", ""),
        ("", ""),
        ("New .", "Neuf ."),
    ]
    clean = {name: number for name, number in counts["clean"].items() if number}
    assert clean == {
        "pairs": 5, "kept": 3, "empty": 1, "ratio": 1, "source_carriage_return": 1, "target_line_separators": 1,
        "source_words": 10, "kept_source_words": 6, "target_words": 7, "kept_target_words": 5,
    }  # fmt: skip
    assert counts["overlap"] == {
        "test_same_source": 1, "test_same_target": 1, "test_same_both": 1,
        "test_alike_source": 2, "test_alike_target": 1, "test_alike_both": 1,
    }  # fmt: skip
    assert counts["stage"] == {
        "name": "tokens",
        "pairs": 3,
        "source": {"words": 10},
        "target": {"words": 8},
    }


def test_tokens_stay_as_they_are(tmp_path: Path) -> None:
    pairs, _ = prepared(tmp_path, b"don't  &quot; a.b\n", b"l'un\n", tokenized=True)
    assert pairs == [("don't  &quot; a.b", "l'un")]
