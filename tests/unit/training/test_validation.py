"""What the development set's NLL and BLEU are taken over, and which weights they choose."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from torch.overrides import TorchFunctionMode

from nmt.data.batches import make_batch
from nmt.data.bitext import Bitext
from nmt.data.vocabulary import UNKNOWN, SubwordVocabulary
from nmt.decoding import beam_search, forced_decoding
from nmt.evaluation.bleu import multi_bleu
from nmt.training.checkpoint import summarize_training
from nmt.training.history import read_history
from nmt.training.trainer import Trainer
from nmt.training.validation import (
    GREEDY_SEARCH,
    compute_greedy_bleu,
    compute_mean_nll,
    compute_sentence_nlls,
)
from tests.bitexts import vocabulary, write_bitext
from tests.messages import refused
from tests.training_settings import model_run

VOCABULARIES = (vocabulary(30), vocabulary(30))
LIMIT = 12
"""`max_words` of the small runs."""


@pytest.fixture(scope="module")
def text(tmp_path_factory: pytest.TempPathFactory) -> Bitext:
    """Pairs of up to 20 words per side, some of them over the limit on one side only."""
    draw = random.Random(3)

    def words() -> list[int]:
        return [draw.randint(2, 30) for _ in range(draw.randint(1, 20))]

    return write_bitext(tmp_path_factory.mktemp("text"), [(words(), words()) for _ in range(60)])


def trainer(text: Bitext, state: Path, **changes: Any) -> Trainer:
    made = Trainer(model_run(**changes), text, text, VOCABULARIES, state)
    made.resume(None)
    return made


def within(text: Bitext) -> list[int]:
    return [row for row in range(len(text)) if max(len(text.source(row)), len(text.target(row))) <= LIMIT]


def test_a_limit_that_leaves_nothing_is_refused(tmp_path: Path) -> None:
    long = write_bitext(tmp_path, [([2] * 13, [3])])
    run = model_run(dev_sentences="within_limit")
    with refused():
        Trainer(run, write_bitext(tmp_path / "train", [([2], [3])]), long, VOCABULARIES, tmp_path / "state")


@pytest.mark.parametrize("sentences", ["all", "within_limit"])
def test_the_settings_say_which_sentences_are_watched_and_reported(
    text: Bitext, tmp_path: Path, sentences: str
) -> None:
    made = trainer(text, tmp_path, updates=7, dev_sentences=sentences)
    made.run()
    rows = np.array(range(60) if sentences == "all" else within(text))
    expected = compute_mean_nll(made.model, text, rows, 4)
    (validated,) = [line["dev_nll"] for line in list(read_history(made.history.path)) if "dev_nll" in line]
    assert validated == pytest.approx(expected, rel=1e-12)
    assert summarize_training(made, "updates")["dev_nll"] == pytest.approx(expected, rel=1e-12)


@pytest.mark.parametrize("keep", ["best", "last"])
def test_the_settings_say_which_weights_are_kept(text: Bitext, tmp_path: Path, keep: str) -> None:
    """A step size that is too large lets the score rise again after its best."""
    wild = {"updates": 60, "optimizer": "adam", "learning_rate": 0.3, "cost": "mean", "validate_every": 5}
    made = trainer(text, tmp_path, **wild, keep=keep)
    made.run()
    validations = [line["dev_nll"] for line in list(read_history(made.history.path)) if "dev_nll" in line]
    assert min(validations) < validations[-1], "the step size was meant to be too large"
    made.load_chosen_weights()
    chosen = min(validations) if keep == "best" else validations[-1]
    assert made.dev_nll() == pytest.approx(chosen, rel=1e-12)
    best = 5 * (1 + validations.index(min(validations)))
    assert summarize_training(made, "updates")["best_update"] == (best if keep == "best" else None)


def translations(made: Trainer, text: Bitext) -> list[tuple[list[int], list[int]]]:
    """Every source with the model's own greedy translation, where it is of known words."""
    pairs = []
    for row in range(len(text)):
        batch = make_batch(text, np.array([row]), source_eos=True)
        encoded = made.model.encode(batch.source, batch.source_lengths)
        length = np.array([len(text.source(row))])
        [[found]] = beam_search.search(made.model, encoded, length, GREEDY_SEARCH, forbid_unknown=False)
        pairs += [(text.source(row).tolist(), found.ids)] if min(found.ids) > UNKNOWN else []
    return pairs


def test_bleu_is_that_of_greedy_translations(text: Bitext, tmp_path: Path) -> None:
    wild = {"updates": 40, "optimizer": "adam", "learning_rate": 0.05, "cost": "mean"}
    made = trainer(text, tmp_path / "state", **wild)
    made.run()
    own = translations(made, text)
    assert len(own) > 20

    def bleu(name: str, pairs: list[tuple[list[int], list[int]]], batch_size: int) -> float:
        (tmp_path / name).mkdir(exist_ok=True)
        made_text = write_bitext(tmp_path / name, pairs)
        return compute_greedy_bleu(made.model, made_text, np.arange(len(pairs)), batch_size, VOCABULARIES[1])

    assert bleu("own", own, 7) == pytest.approx(100)
    wrong = [(source, [word % 29 + 2 for word in words]) for source, words in own[:10]] + own[10:]
    assert 0 < bleu("wrong", wrong, 7) < 100
    assert bleu("wrong", wrong, 3) == bleu("wrong", wrong, 7), "batches change nothing"

    units = SubwordVocabulary([(f"{'▁' if i < 15 else ''}{i}", 1) for i in range(30)])
    hypotheses, references = ([" ".join(units.words(ids)) for _, ids in pairs] for pairs in (own, wrong))
    of_words = multi_bleu().corpus_score(hypotheses, [references]).score
    in_units = write_bitext(tmp_path / "wrong", wrong)
    assert compute_greedy_bleu(made.model, in_units, np.arange(len(own)), 7, units) == pytest.approx(of_words)


def test_the_unknown_word_is_never_right(text: Bitext, tmp_path: Path) -> None:
    made = trainer(text, tmp_path / "state", updates=1)
    with torch.no_grad():
        made.model.readout.b_o[UNKNOWN] += 50.0
    unknown = write_bitext(tmp_path, [([2] * 12, [UNKNOWN] * 6)])
    assert unknown.target(0).tolist() == [UNKNOWN] * 6
    assert compute_greedy_bleu(made.model, unknown, np.arange(1), 1, VOCABULARIES[1]) == 0


def test_the_settings_say_which_score_chooses_and_stops(
    text: Bitext, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """BLEU here, while the NLL still falls; 0 says nothing, the same again is no gain."""
    scores = iter([0.0, 0.0, 0.0, 3.0, 2.0, 4.0, 4.0, 1.0])
    monkeypatch.setattr("nmt.training.trainer.compute_greedy_bleu", lambda *_: next(scores))
    monkeypatch.setattr(Trainer, "dev_nll", lambda made: 1000.0 - made.counters.update)
    made = trainer(text, tmp_path, updates=400, validate_every=5, dev_score="bleu", keep="best", patience=2)
    assert made.run() == "development BLEU"
    assert (made.counters.update, made.counters.best_update) == (40, 30)


def test_the_nll_is_a_mean_over_sentences(text: Bitext, tmp_path: Path) -> None:
    """Each pair alone is read as the reference reads it; 60 pairs in batches of 7 leave an uneven last one."""
    made = trainer(text, tmp_path, updates=1)
    rows = np.arange(len(text))
    with torch.no_grad():
        alone = [
            float(
                compute_sentence_nlls(
                    made.model, make_batch(text, rows[row : row + 1], source_eos=True)
                ).sum()
            )
            for row in rows
        ]
    assert compute_mean_nll(made.model, text, rows, 7) == pytest.approx(sum(alone) / 60, rel=1e-6)


def test_the_training_nll_is_of_pairs_within_the_limit(text: Bitext, tmp_path: Path) -> None:
    made = trainer(text, tmp_path, updates=1, train_sample=1000)
    expected = compute_mean_nll(made.model, text, np.array(within(text)), 4)
    assert made.train_nll() == pytest.approx(expected, rel=1e-12)


def test_logits_exist_a_chunk_at_a_time(
    text: Bitext, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(forced_decoding, "POSITIONS_PER_BLOCK", 7)
    made = trainer(text, tmp_path)
    largest = 0

    class Watch(TorchFunctionMode):
        def __torch_function__(
            self, function: Any, types: Any, arguments: Any = (), named: Any = None
        ) -> Any:
            nonlocal largest
            found = function(*arguments, **(named or {}))
            if isinstance(found, torch.Tensor) and found.shape[-1:] == (32,) and found.dim() == 2:
                largest = max(largest, len(found))
            return found

    with Watch():
        compute_mean_nll(made.model, text, np.arange(60), 4)
    assert largest == 7


@pytest.fixture(scope="module")
def uneven(tmp_path_factory: pytest.TempPathFactory) -> Bitext:
    """Pairs of very different lengths, so that another sample has another NLL."""
    pairs = [([2 + i % 29] * (1 + i % 11), [2 + i % 29] * (1 + i % 11)) for i in range(120)]
    return write_bitext(tmp_path_factory.mktemp("text"), pairs)


def sampled(uneven: Bitext, folder: Path, seed: int, sample_seed: int | None) -> float:
    """Of the start values of seed 5, on the sample that a run with these seeds draws."""
    runs = [model_run().model_copy(update={"seed": s, "sample_seed": sample_seed}) for s in (5, seed)]
    same_weights, made = (Trainer(run, uneven, uneven, VOCABULARIES, folder) for run in runs)
    made.model.load_state_dict(same_weights.model.state_dict())
    return made.train_nll()


def test_the_sample_follows_the_seed_of_the_data(uneven: Bitext, tmp_path: Path) -> None:
    assert sampled(uneven, tmp_path, 6, sample_seed=1) == sampled(uneven, tmp_path, 7, sample_seed=1)
    assert sampled(uneven, tmp_path, 6, sample_seed=1) != sampled(uneven, tmp_path, 6, sample_seed=2)
    assert sampled(uneven, tmp_path, 6, sample_seed=None) == sampled(uneven, tmp_path, 7, sample_seed=6)
