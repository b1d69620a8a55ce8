"""What the development set's NLL and BLEU are taken over, and which weights they choose."""

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor

from nmt.data.batches import Indices, make_batch
from nmt.data.bitext import Bitext
from nmt.data.vocabulary import UNKNOWN, Vocabulary
from nmt.decoding import beam_search
from nmt.evaluation.bleu import multi_bleu
from nmt.training.export import summarize_training
from nmt.training.trainer import Trainer
from nmt.training.validation import (
    GREEDY_SEARCH,
    compute_greedy_bleu,
    compute_mean_nll,
    compute_sentence_nlls,
)
from tests.bitexts import random_pairs, vocabulary, write_bitext
from tests.trainers import history_lines, make_trainer, train
from tests.training_settings import model_run

LIMIT = 12
"""`max_words` of the small runs."""
WILD = {"optimizer": "adam", "cost": "mean"}


@pytest.fixture(scope="module")
def text(tmp_path_factory: pytest.TempPathFactory) -> Bitext:
    """Some of its pairs are over the limit on one side only."""
    return write_bitext(tmp_path_factory.mktemp("text"), random_pairs(max_words=20))


def rows_within_limit(text: Bitext) -> Indices:
    lengths = [max(len(text.source(row)), len(text.target(row))) for row in range(len(text))]
    return np.flatnonzero(np.array(lengths) <= LIMIT)


@pytest.mark.parametrize("dev_sentences", ["all", "within_limit"])
def test_dev_sentences(text, tmp_path, dev_sentences):
    trainer = train(model_run(updates=7, dev_sentences=dev_sentences), text, tmp_path)
    rows = np.arange(60) if dev_sentences == "all" else rows_within_limit(text)
    expected_nll = pytest.approx(compute_mean_nll(trainer.model, text, rows, 4), rel=1e-12)
    (line,) = history_lines(trainer, "dev_nll")
    assert line["dev_nll"] == expected_nll
    assert summarize_training(trainer, "updates")["dev_nll"] == expected_nll


@pytest.mark.parametrize("keep", ["best", "last"])
def test_kept_weights(text, tmp_path, keep):
    """A step size that is too large lets the score rise again after its best."""
    run = model_run(**WILD, updates=60, learning_rate=0.3, validate_every=5, keep=keep)
    trainer = train(run, text, tmp_path)
    nlls = [line["dev_nll"] for line in history_lines(trainer, "dev_nll")]
    assert min(nlls) < nlls[-1], "the step size was meant to be too large"
    trainer.load_chosen_weights()
    kept_nll, best_update = nlls[-1], None
    if keep == "best":
        kept_nll, best_update = min(nlls), 5 * (1 + nlls.index(min(nlls)))
    assert trainer.compute_dev_nll() == pytest.approx(kept_nll, rel=1e-12)
    assert summarize_training(trainer, "updates")["best_update"] == best_update


def test_greedy_bleu(tmp_path, monkeypatch):
    """A model that repeats the source, by which half of the sentences are right."""
    rules = {"beam": 1, "min_length": "half", "max_length_factor": 3, "if_no_eos": "best"}
    assert GREEDY_SEARCH.model_dump(include={*rules}) == rules

    def repeat_sources(_: Any, sources: Tensor, lengths: Indices, *__: Any, **___: Any) -> list[Any]:
        return [
            [SimpleNamespace(ids=ids[:length])]
            for ids, length in zip(sources.t().tolist(), lengths, strict=True)
        ]

    monkeypatch.setattr(beam_search, "search", repeat_sources)
    model = SimpleNamespace(
        architecture=SimpleNamespace(source_eos=True),
        encode=lambda sources, lengths: sources,
        parameters=lambda: iter([torch.zeros(1)]),
    )
    sources = [source for source, _ in random_pairs(max_words=20)]
    targets = sources[:30] + [[word % 29 + 2 for word in source] for source in sources[30:]]
    half_right = write_bitext(tmp_path, list(zip(sources, targets, strict=True)))
    assert compute_greedy_bleu(model, half_right, np.arange(30), 7, vocabulary(30)) == pytest.approx(100)

    # With subword units, it is the BLEU of words.
    units = Vocabulary([(f"{'▁' if i < 15 else ''}{i}", 1) for i in range(30)], has_subwords=True)
    for words in (vocabulary(30), units):
        hypotheses, references = ([" ".join(words.words(ids)) for ids in side] for side in (sources, targets))
        expected_bleu = multi_bleu().corpus_score(hypotheses, [references]).score
        assert 0 < expected_bleu < 100
        bleu = compute_greedy_bleu(model, half_right, np.arange(60), 7, words)
        assert bleu == pytest.approx(expected_bleu)


def test_unknown_word_is_always_wrong(text, tmp_path):
    model = make_trainer(model_run(), text, tmp_path / "state").model
    with torch.no_grad():
        model.readout.b_o[UNKNOWN] += 50.0
    unknown_text = write_bitext(tmp_path, [([2] * 12, [UNKNOWN] * 6)])
    assert unknown_text.target(0).tolist() == [UNKNOWN] * 6
    assert compute_greedy_bleu(model, unknown_text, np.arange(1), 1, vocabulary(30)) == 0


def test_dev_score(text, tmp_path, monkeypatch):
    """BLEU chooses and stops, while the NLL still falls. A BLEU of 0 costs no patience, an equal one does."""
    scores = iter([0.0, 0.0, 0.0, 3.0, 2.0, 4.0, 4.0, 1.0])
    monkeypatch.setattr("nmt.training.trainer.compute_greedy_bleu", lambda *_: next(scores))
    monkeypatch.setattr(Trainer, "compute_dev_nll", lambda trainer: 1000.0 - trainer.counters.update)
    run = model_run(updates=400, validate_every=5, dev_score="bleu", keep="best", patience=2)
    trainer = make_trainer(run, text, tmp_path)
    assert trainer.run() == "development BLEU"
    assert (trainer.counters.update, trainer.counters.best_update) == (40, 30)


def test_mean_nll(text, tmp_path):
    """It is a mean over sentences; 60 pairs in batches of 7 leave an uneven last one."""
    model, rows = make_trainer(model_run(), text, tmp_path).model, np.arange(60)
    with torch.no_grad():
        batches = [make_batch(text, rows[row : row + 1], source_eos=True) for row in rows]
        total_nll = sum(float(compute_sentence_nlls(model, batch)) for batch in batches)
    assert compute_mean_nll(model, text, rows, 7) == pytest.approx(total_nll / 60, rel=1e-6)


def test_train_nll_is_within_limit(text, tmp_path):
    """And an epoch is a pass over these pairs."""
    trainer, rows = make_trainer(model_run(train_sample=1000), text, tmp_path), rows_within_limit(text)
    expected_nll = compute_mean_nll(trainer.model, text, rows, 4)
    assert trainer.compute_train_nll() == pytest.approx(expected_nll, rel=1e-12)
    trainer.counters.update = 9
    assert trainer.count_epochs() == 9 * 4 / len(rows)


def test_train_sample_follows_seed(text, tmp_path):
    trainer, nlls = make_trainer(model_run(), text, tmp_path), {}
    for seeds in ((6, 1), (7, 1), (6, 2), (6, None), (7, 6)):
        changes = dict(zip(("seed", "sample_seed"), seeds, strict=True))
        trainer.run_settings = model_run().model_copy(update=changes)
        nlls[seeds] = trainer.compute_train_nll()
    assert nlls[6, 1] == nlls[7, 1] != nlls[6, 2]
    assert nlls[6, None] == nlls[7, 6]
