"""Rescoring against teacher forcing of each hypothesis; mixing, oracle, and what a stopped process leaves."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
import torch

from nmt.decoding import rescoring
from nmt.decoding.forced_decoding import score_translations
from nmt.decoding.formats import Entry, NBestList
from nmt.decoding.rescoring import Rescorer, best_by_bleu, rescore_n_best_lists, write_oracle
from nmt.errors import UserError
from nmt.io.text_files import read_lines
from nmt.settings.decoding import Average
from nmt.store import trained_model
from nmt.store.trained_model import TrainedModel
from tests import translators
from tests.bitexts import write_text

SOURCES = ["w3 w4 w5", "", "w7 strange w8", "w2"]
LISTS = {
    0: ["w4 w5", "w4 w5 w6 w7 w8 w9", "", "w4 w5"],
    2: ["w3", "odd w3"],
    3: ["w2 w2", "w3"],
}


@pytest.fixture(scope="module")
def models(tmp_path_factory: pytest.TempPathFactory) -> list[TrainedModel]:
    """A model that aligns and one with a fixed vector, with the same vocabularies."""
    here = tmp_path_factory.mktemp("models")
    folders = [
        translators.trained_model(here / model_type, model_type) for model_type in ("rnnsearch", "rnnencdec")
    ]
    return [trained_model.load_model(folder, torch.device("cpu")) for folder in folders]


@pytest.fixture
def text(tmp_path: Path) -> tuple[Path, Path]:
    """A source and lists of it; scores fall with the place in the list."""
    lists = (
        f"{number} ||| {hypothesis} ||| LM0= -1 ||| {-place}"
        for number, texts in LISTS.items()
        for place, hypothesis in enumerate(texts)
    )
    return write_text(tmp_path / "test.en", SOURCES), write_text(tmp_path / "lists.zst", lists)


def one_by_one(models: Sequence[TrainedModel], average: Average) -> dict[tuple[int, str], float]:
    return {
        (number, hypothesis): score_translations(
            models, [(SOURCES[number].split(), hypothesis.split())], 1, average=average
        )[0].log_probability
        for number, texts in LISTS.items()
        for hypothesis in texts
    }


@pytest.mark.parametrize("average", ["probability", "log_probability"])
@pytest.mark.parametrize("members", [[0], [1], [0, 1]])
def test_log_probabilities_are_those_of_teacher_forcing(
    models: list[TrainedModel], members: list[int], average: Average
) -> None:
    chosen = [models[place] for place in members]
    lists = [(SOURCES[number].split(), texts) for number, texts in LISTS.items()]
    expected = one_by_one(chosen, average)
    for size in (1, 3, 100):
        found = Rescorer(chosen, average, size).compute_log_probabilities(lists)
        for (number, texts), values in zip(LISTS.items(), found, strict=True):
            assert values == pytest.approx([expected[number, text] for text in texts], abs=1e-4)


@pytest.mark.parametrize("weight", [0.0, 0.25, 0.5, 1.0])
def test_both_scores_are_mixed_and_the_best_comes_first(
    models: list[TrainedModel], text: tuple[Path, Path], tmp_path: Path, weight: float
) -> None:
    done = rescore_n_best_lists(
        Rescorer(models[:1], weight=weight), *text, tmp_path / "best", tmp_path / "new.gz"
    )
    assert (done.sentences, done.hypotheses, done.resumed) == (4, 9, False)
    expected = one_by_one(models[:1], "probability")
    rows = [line.split(" ||| ") for line in read_lines(tmp_path / "new.gz")]
    best = [*read_lines(tmp_path / "best")]
    assert len(best) == 4 and best[1] == ""
    for number, texts in LISTS.items():
        mixed = sorted(
            (
                weight * expected[number, hypothesis] - (1 - weight) * place
                for place, hypothesis in enumerate(texts)
            ),
            reverse=True,
        )
        own = [row for row in rows if row[0] == str(number)]
        assert [float(row[3]) for row in own] == pytest.approx(mixed, abs=2e-4)
        assert best[number] == own[0][1]
        for row in own:
            assert row[2].startswith("LM0= -1 NMT0= ")
            assert float(row[2].split()[-1]) == pytest.approx(expected[number, row[1]], abs=2e-4)
    if weight == 0:
        assert best == ["w4 w5", "", "w3", "w2 w2"], "the other system's own translations"


def test_the_oracle_takes_the_best_sentence_bleu() -> None:
    texts = ["the cat sat on a mat", "a dog", "the cat sat on the mat", "the cat sat on the mat"]
    sentence = NBestList(0, ["x"], [Entry(text, 0.0) for text in texts])
    assert best_by_bleu(sentence, "the cat sat on the mat") == texts[2]
    assert best_by_bleu(sentence, "a dog") == "a dog"
    assert best_by_bleu(sentence, "entirely different words") == texts[0]
    cased = NBestList(0, ["x"], [Entry("The Cat", 0.0), Entry("the cat", 0.0)])
    assert best_by_bleu(cased, "the cat") == "the cat"


def test_a_rescoring_that_was_stopped_goes_on_to_the_same_bytes(
    models: list[TrainedModel], text: tuple[Path, Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(rescoring, "HYPOTHESES_PER_GROUP", 2)
    whole, broken = ((tmp_path / name, tmp_path / f"{name}.lists") for name in ("whole", "broken"))
    rescore_n_best_lists(Rescorer(models), *text, *whole)
    original, groups, interrupted = Rescorer.compute_log_probabilities, [], True

    def counts(rescorer: Rescorer, lists: list[Any]) -> list[list[float]]:
        groups.append(lists)
        if len(groups) == 2 and interrupted:
            raise KeyboardInterrupt
        return original(rescorer, lists)

    monkeypatch.setattr(Rescorer, "compute_log_probabilities", counts)
    with pytest.raises(KeyboardInterrupt):
        rescore_n_best_lists(Rescorer(models), *text, *broken)
    assert not broken[0].exists()
    interrupted = False
    begun = (tmp_path / ".broken.unfinished").read_bytes()
    source = write_text(tmp_path / "other.en", ["w4 w4 w5", *SOURCES[1:]])
    lists = write_text(tmp_path / "other.zst", [line.replace("w9", "w3") for line in read_lines(text[1])])
    for chosen, *other in ((models, source, text[1]), (models, text[0], lists), (models[:1], *text)):
        assert not rescore_n_best_lists(Rescorer(chosen), *other, *broken).resumed
        (tmp_path / ".broken.unfinished").write_bytes(begun)
    groups.clear()
    assert rescore_n_best_lists(Rescorer(models), *text, *broken).resumed
    assert len(groups) == 2, "the first of three groups had been scored"
    assert not (tmp_path / ".broken.unfinished").exists()
    for one, other in zip(whole, broken, strict=True):
        assert one.read_bytes() == other.read_bytes()


def test_the_oracle_writes_a_line_for_each_sentence(text: tuple[Path, Path], tmp_path: Path) -> None:
    reference = write_text(tmp_path / "test.fr", ["w4 w5 w6 w7 w8", "", "odd", "w3"])
    assert write_oracle(*text, reference, tmp_path / "best") == 4
    assert [*read_lines(tmp_path / "best")] == ["w4 w5 w6 w7 w8 w9", "", "odd w3", "w3"]
    with pytest.raises(UserError):
        write_oracle(*text, write_text(tmp_path / "short", ["w1"]), tmp_path / "best")
