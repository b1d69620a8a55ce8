"""Of a language model, what some sentences need: their probabilities stay as they are, to the last bit."""

from __future__ import annotations

import random
import subprocess
from pathlib import Path

import pytest

from nmt.data.selection import language_models
from nmt.data.selection.arpa_filter import keep, ngrams
from nmt.errors import UserError
from nmt.io.text_files import write_lines
from tests import kenlm

ORDER, PADDED = 4, 10_000


def drawn(count: int, words: int, seed: int) -> list[str]:
    """Sentences whose words follow one another with a liking, so that there are n-grams of every order."""
    draw = random.Random(seed)
    sentences = []
    for _ in range(count):
        word, sentence = 0, []
        for _ in range(draw.randint(1, 14)):
            word = (word * 7 + draw.choice((1, 1, 1, 2, 5, draw.randrange(words)))) % words
            sentence.append(f"w{word}")
        sentences.append(" ".join(sentence))
    return sentences


def text(folder: Path, count: int = 3000) -> Path:
    path = folder / "text.zst"
    with write_lines(path) as writer:
        for line in drawn(count, 400, 1):
            writer.write(line)
    return path


def whole_model(folder: Path, path: Path) -> Path:
    """The same model as a whole, by the program itself."""
    output = folder / "whole.arpa"
    command = [str(kenlm.programs() / "lmplz"), "--order", str(ORDER), "--arpa", str(output)]
    command += ["--vocab_pad", str(PADDED), "--discount_fallback", "--memory", "100M"]
    lines = "".join(f"{line}\n" for line in language_models.read_lines(path))
    subprocess.run(command, input=lines.encode(), check=True, capture_output=True)
    return output


def part_for(sentences: list[str], folder: Path, path: Path) -> Path:
    output = folder / "part.arpa"
    language_models.train_for(
        sentences, {"c": [path]}, ORDER, output, True, 150, kenlm.programs(), padded_vocabulary=PADDED
    )
    return output


def test_no_probability_changes(tmp_path: Path) -> None:
    """Known words, unknown ones, and orders of words that the text does not have."""
    held_out = [*drawn(200, 450, 2), "w1 new w2 w3 w4", "new", "w3 w3 w3 w3 w3"]
    path = text(tmp_path)
    whole = language_models.load(whole_model(tmp_path, path))
    part = language_models.load(part_for(held_out, tmp_path, path))
    scores = [[*whole.full_scores(line)] for line in held_out]
    assert scores == [[*part.full_scores(line)] for line in held_out]
    assert [whole.score(line) for line in held_out] == [part.score(line) for line in held_out]
    found = {(length, unknown) for sentence in scores for _, length, unknown in sentence}
    assert {(1, False), (2, False), (3, False), (4, False), (1, True)} <= found
    assert [entry.name for entry in tmp_path.iterdir() if entry.name.startswith(".")] == []


def test_only_what_is_needed_is_kept(tmp_path: Path) -> None:
    """However long the text is."""
    held_out = drawn(20, 400, 3)
    sizes = []
    for count in (3000, 12_000):
        path = text(tmp_path, count)
        part = part_for(held_out, tmp_path, path)
        kept = [line.split("\t")[1] for line in part.read_text().split("\n") if "\t" in line]
        assert {ngram.encode() for ngram in kept} <= ngrams(held_out, ORDER)
        assert len(kept) <= len(ngrams(held_out, ORDER))
        sizes.append(part.stat().st_size)
    whole = whole_model(tmp_path, path)
    assert max(sizes) < whole.stat().st_size / 20


def test_a_model_that_breaks_off_is_none(tmp_path: Path) -> None:
    lines = [b"\\data\\\n", b"ngram 1=1\n", b"\n", b"\\1-grams:\n", b"-1\t<unk>\t0\n", b"\n"]
    with pytest.raises(UserError, match=r"part: the language model broke off after 1 of its orders"):
        keep(lines, {b"<unk>"}, tmp_path / "part")
    with pytest.raises(UserError, match=r"broke off after 1 of its orders"):
        keep(lines[:5], {b"<unk>"}, tmp_path / "part")
    assert not [*tmp_path.iterdir()]
    keep([*lines, b"\\end\\\n"], {b"<unk>"}, tmp_path / "part")
    assert (tmp_path / "part").read_bytes() == b"".join([*lines, b"\\end\\\n"])


def test_what_the_program_says_of_its_end_is_told(tmp_path: Path) -> None:
    """Too little text for discounts; not that its model broke off."""
    path = text(tmp_path, 3)
    with pytest.raises(UserError, match=r"set `selection\.discount_fallback: true`"):
        language_models.train_for(["w1"], {"c": [path]}, ORDER, tmp_path / "x", False, 150, kenlm.programs())
    assert {entry.name for entry in tmp_path.iterdir()} == {"text.zst"}
