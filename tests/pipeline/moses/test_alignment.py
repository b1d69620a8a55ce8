"""Word alignment, with the real programs."""

from pathlib import Path

import pytest

from nmt.errors import UserError
from pipeline.moses.alignment import align_text
from pipeline.moses.programs import Moses
from tests.moses_programs import aligner

PAIRS = 1200


@pytest.fixture(scope="module")
def moses(tmp_path_factory: pytest.TempPathFactory) -> Moses:
    return aligner(tmp_path_factory.mktemp("moses"))


@pytest.fixture(scope="module")
def text(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """Sentences of the form `a b c` and their reversal, in words that know each other."""
    folder = tmp_path_factory.mktemp("text")
    sentences = [
        [f"w{(7 * line + 3 * word * word) % 40}" for word in range(2 + line % 6)] for line in range(PAIRS)
    ]
    paths = (folder / "source", folder / "target")
    paths[0].write_text("".join(f"{' '.join(words)}\n" for words in sentences))
    paths[1].write_text("".join(f"{' '.join(f'{w}x' for w in reversed(words))}\n" for words in sentences))
    return paths


def alignment_error_rate(text: tuple[Path, Path], aligned: Path) -> float:
    """1 - 2 |found and right| / (|found| + |right|)."""
    found_links = right_links = both = 0
    for line, found in zip(text[0].read_text().splitlines(), aligned.read_text().splitlines(), strict=True):
        words = len(line.split())
        right = {f"{word}-{words - 1 - word}" for word in range(words)}
        found_links, right_links = found_links + len(found.split()), right_links + words
        both += len(right & set(found.split()))
    return 1 - 2 * both / (found_links + right_links)


@pytest.mark.parametrize("block", [PAIRS, 500])
def test_alignment_in_blocks(tmp_path: Path, moses: Moses, text: tuple[Path, Path], block: int) -> None:
    align_text(moses, *text, tmp_path / "aligned", block, "grow-diag-final-and")
    assert alignment_error_rate(text, tmp_path / "aligned") < 0.2


def test_incomplete_symmetrisation_is_refused(
    tmp_path: Path, moses: Moses, text: tuple[Path, Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    stub = tmp_path / "symal"
    stub.write_text("#!/bin/sh\ncat > /dev/null\n")
    stub.chmod(0o755)
    monkeypatch.setattr(Moses, "program", lambda self, name: str(stub))
    with pytest.raises(UserError, match="symal wrote 0 of 1,200 lines"):
        align_text(moses, *text, tmp_path / "aligned", PAIRS, "grow-diag-final-and")
