"""Rescoring against teacher forcing of each hypothesis; interpolation, oracle, and what a killed process leaves."""

import subprocess
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
import torch

from nmt.decoding import rescoring
from nmt.decoding.forced_decoding import score_translations
from nmt.decoding.rescoring import Rescorer, rescore_n_best_lists, write_oracle
from nmt.io.text_files import read_lines
from nmt.settings.decoding import Average
from nmt.store import trained_model
from nmt.store.trained_model import TrainedModel
from tests import translators
from tests.bitexts import write_text
from tests.messages import refused

SOURCES = ["w3 w4 w5", "", "w7 strange w8", "w2"]
HYPOTHESES = {
    0: ["w4 w5", "w4 w5 w6 w7 w8 w9", "", "w4 w5"],
    2: ["w3", "odd w3"],
    3: ["w2 w2", "w3"],
}


@pytest.fixture(scope="module")
def models(tmp_path_factory: pytest.TempPathFactory) -> list[TrainedModel]:
    """A model with attention and one with a fixed vector, with the same vocabularies."""
    parent = tmp_path_factory.mktemp("models")
    folders = [translators.trained_model(parent / name, name) for name in ("rnnsearch", "rnnencdec")]
    return [trained_model.load_model(folder, torch.device("cpu")) for folder in folders]


@pytest.fixture
def text(tmp_path: Path) -> tuple[Path, Path]:
    """A source and its n-best lists. The score of a hypothesis is minus its index in the list; a field follows it."""
    lines = [
        f"{number} ||| {hypothesis} ||| LM0= -1 ||| {-index} ||| 0-0"
        for number, hypotheses in HYPOTHESES.items()
        for index, hypothesis in enumerate(hypotheses)
    ]
    return write_text(tmp_path / "test.en", SOURCES), write_text(tmp_path / "lists.zst", lines)


def score_one_by_one(models: Sequence[TrainedModel], average: Average) -> dict[int, list[float]]:
    """The log-probabilities of each list."""
    log_probs = {}
    for number, hypotheses in HYPOTHESES.items():
        pairs = [(SOURCES[number].split(), hypothesis.split()) for hypothesis in hypotheses]
        scores = score_translations(models, pairs, 1, average=average)
        log_probs[number] = [score.log_probability for score in scores]
    return log_probs


@pytest.mark.parametrize("average", ["probability", "log_probability"])
@pytest.mark.parametrize("members", [[1], [0, 1]])
def test_log_probabilities_match_teacher_forcing(models, members, average):
    members_models = [models[member] for member in members]
    sentences = [(SOURCES[number].split(), hypotheses) for number, hypotheses in HYPOTHESES.items()]
    expected = score_one_by_one(members_models, average).values()
    for batch_size in (1, 3, 100):
        rescorer = Rescorer(members_models, average, batch_size)
        log_probs = rescorer.compute_log_probabilities(sentences)
        for row, expected_row in zip(log_probs, expected, strict=True):
            assert row == pytest.approx(expected_row, abs=1e-4)


@pytest.mark.parametrize("weight", [0.0, 0.25, 1.0])
def test_interpolated_lists_are_sorted(models, text, tmp_path, weight):
    rescorer = Rescorer(models[:1], weight=weight)
    assert rescore_n_best_lists(rescorer, *text, tmp_path / "best", tmp_path / "new.gz") == 4
    best = [*read_lines(tmp_path / "best")]
    assert len(best) == 4 and best[1] == ""
    rows = [line.split(" ||| ") for line in read_lines(tmp_path / "new.gz")]
    for number, log_probs in score_one_by_one(models[:1], "probability").items():
        scores = [weight * value - (1 - weight) * index for index, value in enumerate(log_probs)]
        list_rows = [row for row in rows if row[0] == str(number)]
        assert [float(row[3]) for row in list_rows] == pytest.approx(sorted(scores, reverse=True), abs=2e-4)
        assert best[number] == list_rows[0][1]
        for _, hypothesis, features, _, alignment in list_rows:
            name, score, model_name, value = features.split()
            assert (name, score, model_name, alignment) == ("LM0=", "-1", "NMT0=", "0-0")
            expected = log_probs[HYPOTHESES[number].index(hypothesis)]
            assert float(value) == pytest.approx(expected, abs=2e-4)


def test_killed_rescoring_is_resumed(models, text, tmp_path, monkeypatch):
    """To the same bytes, and only with the same models and source."""
    monkeypatch.setattr(rescoring, "HYPOTHESES_PER_GROUP", 2)
    whole, killed = ((tmp_path / name, tmp_path / f"{name}.lists") for name in ("whole", "killed"))
    rescore_n_best_lists(Rescorer(models), *text, *whole)
    original, groups, is_interrupted = Rescorer.compute_log_probabilities, [], True

    def compute_or_stop(rescorer: Rescorer, sentences: list[Any]) -> list[list[float]]:
        groups.append(sentences)
        if len(groups) == 2 and is_interrupted:
            raise KeyboardInterrupt
        return original(rescorer, sentences)

    monkeypatch.setattr(Rescorer, "compute_log_probabilities", compute_or_stop)
    with pytest.raises(KeyboardInterrupt):
        rescore_n_best_lists(Rescorer(models), *text, *killed)
    assert not killed[0].exists()
    is_interrupted = False
    journal = tmp_path / ".killed.unfinished"
    first_group = journal.read_bytes()
    source = write_text(tmp_path / "other.en", ["w4 w4 w5", *SOURCES[1:]])
    for other_models, other_source in ((models, source), (models[:1], text[0])):
        groups.clear()
        rescore_n_best_lists(Rescorer(other_models), other_source, text[1], *killed)
        assert len(groups) == 3
        journal.write_bytes(first_group)
    groups.clear()
    rescore_n_best_lists(Rescorer(models), *text, *killed)
    assert len(groups) == 2, "the first of three groups had been scored"
    assert not journal.exists()
    for path, expected in zip(killed, whole, strict=True):
        assert path.read_bytes() == expected.read_bytes()


def test_oracle(text, tmp_path):
    reference = write_text(tmp_path / "test.fr", ["w4 w5 w6 w7 w8", "", "odd", "x y"])
    assert write_oracle(*text, reference, tmp_path / "best") == 4
    best = [*read_lines(tmp_path / "best")]
    assert best == ["w4 w5 w6 w7 w8 w9", "", "odd w3", "w2 w2"]  # the first of two with a BLEU of 0

    # from pipes
    with subprocess.Popen(["cat", text[0]], stdout=subprocess.PIPE) as source:
        pipe = Path(f"/dev/fd/{source.stdout.fileno()}")
        assert write_oracle(pipe, text[1], reference, tmp_path / "best") == 4
    assert [*read_lines(tmp_path / "best")] == best
    with refused():
        write_oracle(*text, write_text(tmp_path / "short", ["w1"]), tmp_path / "best")
