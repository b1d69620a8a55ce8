"""The prepared text is the same, byte for byte, into however many shards a corpus is cut."""

import random
import tarfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from nmt.data.shards import BLOCK_LINES, merge_shards
from nmt.io.text_files import read_lines
from tests import kenlm
from tests.running import PAPER, snakemake

SHARDS = (1, 5)
MOST = {"wide": 5, "near": 3, "dev": 1, "test": 1}
"""Of `wide` some shards have one block and some two; of `near` one shard has none."""

SIDES = ("en", "fr")
PAIRS = {"wide": 6 * BLOCK_LINES + 77, "near": BLOCK_LINES + 1, "dev": 300, "test": 100}
WORDS = {side: [f"{side}{number}" for number in range(900)] for side in SIDES}
"""The first third is the in-domain text's, and the first half of the pairs of `wide` keep to it."""


def lines(corpus: str) -> Iterator[tuple[str, str]]:
    """Pairs of one to six words, a few of them with an empty side, repeated or with odd characters."""
    draw = random.Random(corpus)
    for number in range(PAIRS[corpus]):
        inside = corpus != "wide" or draw.random() < 0.5
        words = [draw.choices(WORDS[side][: 300 if inside else 900], k=draw.randint(1, 6)) for side in SIDES]
        english, french = (" ".join(side) for side in words)
        if corpus in ("wide", "near"):
            english = "" if number % 97 == 0 else english
            french = f"{french}\u2028,\r" if number % 89 == 0 else french
        yield english, french


@pytest.fixture(scope="module")
def mirror(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An archive with all corpora, as a user has it on the disk."""
    folder = tmp_path_factory.mktemp("mirror")
    for corpus in PAIRS:
        pairs = [*lines(corpus)]
        for side, text in zip(SIDES, zip(*pairs, strict=True), strict=True):
            (folder / f"{corpus}.{side}").write_text(
                "".join(f"{line}\n" for line in text), "utf-8", newline=""
            )
    with tarfile.open(folder / "all.tgz", "w:gz", compresslevel=1) as archive:
        for corpus in PAIRS:
            for side in SIDES:
                archive.add(folder / f"{corpus}.{side}", f"all/{corpus}.{side}")
    return folder


def experiment(folder: Path, mirror: Path, shards: int) -> Path:
    """Settings that differ in the number of shards alone."""
    corpora = {
        corpus: {
            side: {"archive": "all", "member": f"all/{corpus}.{end}"}
            for side, end in (("source", "en"), ("target", "fr"))
        }
        | {"shards": min(shards, MOST[corpus])}
        for corpus in PAIRS
    }
    settings = {
        "extends": str(PAPER),
        "mirrors": [str(mirror)],
        "archives": {"all": {"url": "https://example.invalid/all.tgz", "path": "all.tgz"}},
        "corpora": corpora,
        "use": {"train": ["wide", "near"], "dev": ["dev"], "test": ["test"]},
        "selection": {
            "in_domain": ["near"],
            "order": 3,
            "sample_pairs": 2000,
            "target_words": 20000,
            "corpus_words": {"near": 9000},
            "discount_fallback": True,
        },
        "vocabulary": {"words": 500},
        "artifacts": {"reported": False},
    }
    folder.mkdir()
    (folder / "config.yaml").write_text(yaml.safe_dump(settings), encoding="utf-8")
    return folder


def prepared(folder: Path, shards: int) -> dict[str, Any]:
    """What the workflow made, by name: the bytes of files that are one, the lines of those that come in shards."""
    data = folder / "data"
    one_each = [
        *sorted((data / "vocabulary").iterdir()),
        *sorted((data / "binary").rglob("*.*")),
        *sorted((data / "selection" / "lm").iterdir()),
        # config.json states the number of shards
        *sorted((folder / "results").glob("data.*")),
        data / "corpora.json",
    ]
    found = {str(path.relative_to(folder)): path.read_bytes() for path in one_each}
    for corpus in ("wide", "near"):
        numbers = range(min(shards, MOST[corpus]))
        files = [data / "selected" / corpus / f"{shard}.fr.zst" for shard in numbers]
        found[f"selected/{corpus}.fr"] = [*merge_shards(corpus, [read_lines(file) for file in files])]
    return found


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory, mirror: Path) -> dict[int, dict[str, Any]]:
    """The text prepared with each number of shards."""
    kenlm.programs()
    found = {}
    for shards in SHARDS:
        folder = experiment(tmp_path_factory.mktemp("shards") / str(shards), mirror, shards)
        result = snakemake(folder, "--cores", "2", "--notemp", "--", "data")
        assert result.returncode == 0, result.stdout
        found[shards] = prepared(folder, shards)
    return found


def test_every_file_is_the_same(made):
    one, several = (made[shards] for shards in SHARDS)
    assert sorted(one) == sorted(several)
    assert [name for name, value in one.items() if several[name] != value] == []


def test_the_text_is_worth_comparing(made):
    found = made[1]
    for corpus, budget in (("wide", 20_000), ("near", 9000)):
        kept = [line.split() for line in found[f"selected/{corpus}.fr"]]
        assert len(kept) == PAIRS[corpus]
        assert budget - 10 < sum(map(len, kept)) <= budget
        # from all over the corpus, so that a block out of its place would show
        whole = range(0, PAIRS[corpus] - BLOCK_LINES + 1, BLOCK_LINES)
        assert all(any(kept[begin : begin + BLOCK_LINES]) for begin in whole)
    assert {"results/data.csv", "data/binary/train/meta.json", "data/vocabulary/fr.tsv"} <= set(found)
