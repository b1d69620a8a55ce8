"""Splits of the text of a user: complete, without a common sentence, and independent of the order of the lines."""

import random
from pathlib import Path

import pytest

from nmt.io.text_files import read_pairs
from nmt.settings.text import Languages
from pipeline.own_text.parallel_text import ParallelText
from pipeline.own_text.settings import write_experiment
from pipeline.own_text.splits import SPLITS, TextStatistics, write_splits
from pipeline.preparation import matching_key
from tests.bitexts import write_text
from tests.messages import refused

Pairs = list[tuple[str, str]]
CODES = ("de", "es")


def make_pairs(count: int = 3000, seed: int = 1) -> Pairs:
    """Pairs of which some repeat a sentence of either side, in other case or with other punctuation."""
    random_source = random.Random(seed)
    pairs = []
    for _ in range(count):
        mark = random_source.choice([".", "!", " ."])
        source = f"Satz {random_source.randrange(count)} ist da{mark}"
        target = f"La frase {random_source.randrange(count)} está aquí."
        pairs.append((random_source.choice([source, source.upper()]), target))
    return pairs


def write_parallel_text(folder: Path, pairs: Pairs, suffix: str = "") -> ParallelText:
    files = [folder / f"text.{code}{suffix}" for code in CODES]
    for file, side in zip(files, zip(*pairs, strict=True), strict=True):
        write_text(file, side)
    return ParallelText(*files)


def split_text(folder: Path, texts: dict[str, ParallelText]) -> tuple[TextStatistics, dict[str, Pairs]]:
    """Write the splits, and return what was counted and the pairs of each split."""
    outputs = {split: (folder / f"{split}.de.zst", folder / f"{split}.es.zst") for split in SPLITS}
    statistics = write_splits(texts, Languages(source="de", target="es"), outputs)
    return statistics, {split: list(read_pairs(*files)) for split, files in outputs.items()}


def test_sampled_sets_share_no_sentence(tmp_path):
    pairs = make_pairs()
    statistics, splits = split_text(tmp_path, {"train": write_parallel_text(tmp_path, pairs)})
    counts = statistics.pairs
    assert counts == {split: len(split_pairs) for split, split_pairs in splits.items()}
    assert counts["dev"] == counts["test"] == len(pairs) // 20
    assert sum(counts.values()) + statistics.left_out_pairs == len(pairs)
    assert statistics.left_out_pairs > 0
    for side in (0, 1):
        keys = {split: {matching_key(pair[side]) for pair in splits[split]} for split in SPLITS}
        assert not keys["dev"] & keys["test"]
        assert not (keys["dev"] | keys["test"]) & keys["train"]
        assert len(keys["test"]) == counts["test"]


def test_sample_is_independent_of_line_order(tmp_path):
    # pairs without repetition, since the first of equal pairs is sampled
    pairs = [(f"Satz {number} ist da.", f"La frase {number % 2500} está aquí.") for number in range(3000)]
    _, splits = split_text(tmp_path, {"train": write_parallel_text(tmp_path, pairs)})
    random.Random(2).shuffle(pairs)
    _, shuffled_splits = split_text(tmp_path, {"train": write_parallel_text(tmp_path, pairs)})
    for split in SPLITS:
        assert sorted(splits[split]) == sorted(shuffled_splits[split])


def test_given_set_is_unchanged(tmp_path):
    test_pairs = make_pairs(10, seed=3)
    texts = {
        "train": write_parallel_text(tmp_path, make_pairs(), ".zst"),
        "test": write_parallel_text(tmp_path, test_pairs, ".gz"),
    }
    statistics, splits = split_text(tmp_path, texts)
    assert splits["test"] == test_pairs
    assert statistics.pairs["dev"] == 150
    dev_keys = {matching_key(source) for source, _ in splits["dev"]}
    assert not dev_keys & {matching_key(source) for source, _ in test_pairs}


def test_file_with_both_sides(tmp_path, monkeypatch):
    # words are counted in every second pair, which must not be an empty line each time
    monkeypatch.setattr("pipeline.own_text.splits.COUNTED_PAIRS", 2000)
    pairs = make_pairs()
    file = tmp_path / "text.tsv"
    rows = "".join(f"{source}\t{target}\r\n" for source, target in pairs)
    file.write_bytes(b"\xef\xbb\xbf" + rows.encode())
    statistics, splits = split_text(tmp_path, {"train": ParallelText(file)})
    expected_statistics, expected_splits = split_text(
        tmp_path, {"train": write_parallel_text(tmp_path, pairs)}
    )
    assert splits == expected_splits and statistics == expected_statistics

    # empty lines change nothing
    file.write_text(rows.replace("\n", "\n\n"), newline="")
    assert split_text(tmp_path, {"train": ParallelText(file)}) == (expected_statistics, expected_splits)


def break_text(text: ParallelText, kind: str) -> ParallelText:
    """Return a text with a fault of this kind, in the same files."""
    source, target = text.source, Path(str(text.target))
    content = source.read_bytes()
    table = b"".join(line + b"\tLa frase\n" for line in content.splitlines())
    match kind:
        case "lines":
            source.write_bytes(content.rstrip(b"\n").rpartition(b"\n")[0])
        case "latin-1":
            source.write_bytes(content.replace(b"Satz", "Sätz".encode("latin-1"), 1))
        case "missing":
            source.unlink()
        case "copy":
            target.write_bytes(content)
        case "blank":
            target.write_text("\n" * 3000)
        case "few":
            return write_parallel_text(source.parent, make_pairs(900))
        case "tabs":
            source.write_bytes(table.replace(b"frase", b"frase\tmore"))
            return ParallelText(source)
        case "both sides":
            source.write_bytes(table)
    return text


@pytest.mark.parametrize(
    "kind", ["lines", "latin-1", "missing", "copy", "few", "blank", "tabs", "both sides"]
)
def test_unusable_text_is_refused(tmp_path, kind):
    text = break_text(write_parallel_text(tmp_path, make_pairs()), kind)
    folder = tmp_path / "own"
    with refused():
        write_experiment(folder, {"train": text}, CODES, tokenized=False)
    assert not [path for path in folder.rglob("*") if path.is_file()]


def test_file_of_the_user_is_not_overwritten(tmp_path):
    (tmp_path / "own" / "text").mkdir(parents=True)
    text = write_parallel_text(tmp_path, make_pairs())
    file = text.source.rename(tmp_path / "own" / "text" / "train.de.zst")
    content = file.read_bytes()
    with refused():
        write_experiment(tmp_path / "own", {"train": ParallelText(file, text.target)}, CODES, tokenized=False)
    assert file.read_bytes() == content
