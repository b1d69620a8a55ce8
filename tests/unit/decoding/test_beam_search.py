"""Beam search against enumeration of every sequence, and its rules one by one."""

from functools import cache
from itertools import product
from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from nmt.data.batches import pad_pairs
from nmt.data.vocabulary import END, UNKNOWN
from nmt.decoding import beam_search
from nmt.decoding.beam_search import Hypothesis, stable_topk, stable_topk_of_long_rows
from nmt.decoding.ensemble import Ensemble
from nmt.model.encoder_decoder import EncoderDecoder
from nmt.settings.model_types import ModelTypeName
from tests.messages import refused
from tests.scripted_model import ScriptedModel, sources
from tests.small_models import TARGET_VOCABULARY, small_model
from tests.training_settings import decoding

SOURCES = [[3, 5], [6], [2, 2, 7]]


def pad_sources(model: Any, sources: list[list[int]]) -> tuple[torch.Tensor, torch.Tensor]:
    """The sources and their lengths, for a model or an ensemble."""
    ids = [np.array(source, dtype=np.uint16) for source in sources]
    first_model = getattr(model, "models", [model])[0]
    batch = pad_pairs(ids, [ids[0][:0]] * len(ids), first_model.architecture.source_eos)
    return batch.source, batch.source_lengths


def encode(model: Any, sources: list[list[int]]) -> tuple[Any, np.ndarray]:
    return model.encode(*pad_sources(model, sources)), np.array([len(source) for source in sources])


@torch.no_grad()
def word_log_probs(model: EncoderDecoder, source: list[int], words: list[int]) -> np.ndarray:
    """log p of each word and of the end symbol, step by step."""
    encoded, _ = encode(model, [source])
    state, log_probs = model.start_search(encoded), []
    for word in [*words, END]:
        log_probs.append(float(state.predict().log_probs[0, word]))
        state.reorder_and_append(torch.tensor([[0]]), torch.tensor([[word]]))
    return np.array(log_probs)


def word_sequences(max_length: int) -> list[list[int]]:
    """Every sequence of up to so many words."""
    words = range(1, TARGET_VOCABULARY)
    return [list(ids) for length in range(max_length + 1) for ids in product(words, repeat=length)]


@cache
def enumerate_hypotheses(model_type: ModelTypeName, source: tuple[int, ...]) -> list[Hypothesis]:
    """Every sequence of at most as many words as the source."""
    model = small_model(model_type)
    return [
        Hypothesis(ids, float(word_log_probs(model, [*source], ids).sum()), True)
        for ids in word_sequences(len(source))
    ]


@torch.no_grad()
def search_n_best(
    model: EncoderDecoder | Ensemble,
    sources: list[list[int]],
    forbid: bool = False,
    **changes: object,
) -> list[list[Hypothesis]]:
    encoded, lengths = encode(model, sources)
    return beam_search.search(model, encoded, lengths, decoding(**changes), forbid, keep_attention=True)


def search(
    model: EncoderDecoder, sources: list[list[int]], forbid: bool = False, **changes: object
) -> list[Hypothesis]:
    return [n_best[0] for n_best in search_n_best(model, sources, forbid, **changes)]


@pytest.mark.parametrize("normalize", [False, True])
@pytest.mark.parametrize("min_length", ["half", "none"])
@pytest.mark.parametrize("forbid", [False, True])
def test_beam_search_matches_enumeration(model_type, normalize, min_length, forbid):
    def score(hypothesis: Hypothesis) -> float:
        return hypothesis.log_probability / (len(hypothesis.ids) + 1 if normalize else 1)

    beam = TARGET_VOCABULARY ** (max(map(len, SOURCES)) + 1)
    options = {"beam": beam, "n_best": 20, "normalize_by_length": normalize, "min_length": min_length}
    results = search_n_best(small_model(model_type), SOURCES, forbid, **options)
    for source, n_best in zip(SOURCES, results, strict=True):
        min_words = (len(source) + 1) // 2 if min_length == "half" else 0
        allowed = [
            other
            for other in enumerate_hypotheses(model_type, tuple(source))
            if len(other.ids) >= min_words and not (forbid and UNKNOWN in other.ids)
        ]
        expected = sorted(allowed, key=score, reverse=True)[:20]
        for hypothesis, other in zip(n_best, expected, strict=True):
            assert hypothesis.ids == other.ids and hypothesis.finished
            assert hypothesis.log_probability == pytest.approx(other.log_probability, rel=1e-9)


@torch.no_grad()
def test_beam_of_one_is_greedy(model_type):
    model = small_model(model_type)
    results = search(model, SOURCES, beam=1, max_length_factor=4)
    for source, hypothesis in zip(SOURCES, results, strict=True):
        encoded, _ = encode(model, [source])
        state, words = model.start_search(encoded), []
        while len(words) < 4 * (len(source) + 1) and END not in words:
            words.append(int(state.predict().log_probs[0].argmax()))
            state.reorder_and_append(torch.tensor([[0]]), torch.tensor([[words[-1]]]))
        assert hypothesis.ids == [word for word in words if word != END]
        assert hypothesis.finished == (words[-1] == END)


MANY_SOURCES = [
    list(map(int, line[: 1 + number % 9]))
    for number, line in enumerate(np.random.default_rng(4).integers(2, 9, (30, 9)))
]


@pytest.mark.parametrize("normalize", [False, True])
def test_batches_change_nothing_in_float64(model_type, normalize):
    model = small_model(model_type)
    with torch.no_grad():
        model.readout.b_o[END] = 3.0  # translations end
    options = {"beam": 4, "max_length_factor": 3, "normalize_by_length": normalize, "if_no_eos": "retry"}
    options["n_best"] = 4
    n_best_lists = search_n_best(model, MANY_SOURCES, **options)
    assert max(map(len, n_best_lists)) == 4
    for source, n_best in zip(MANY_SOURCES, n_best_lists, strict=True):
        (other_n_best,) = search_n_best(model, [source], **options)
        for hypothesis, other in zip(n_best, other_n_best, strict=True):
            assert (hypothesis.ids, hypothesis.finished) == (other.ids, other.finished)
            assert hypothesis.log_probability == pytest.approx(other.log_probability, rel=1e-12)
            if hypothesis.attention is not None:
                attention = hypothesis.attention[:, : len(source) + 1]  # without padding
                assert attention == pytest.approx(other.attention, rel=1e-9)


def search_script(first: list[float], after: dict[int, list[float]], **changes: object) -> list[list[int]]:
    """The n best of a scripted model in a beam of 4, from a source of 2 words."""
    settings = decoding(**({"beam": 4, "n_best": 4} | changes))
    (n_best,) = beam_search.search(ScriptedModel(first, after), sources(1), np.array([2]), settings, False)
    return [hypothesis.ids for hypothesis in n_best]


def test_ties_go_to_the_better_parent():
    """Then to the likelier word, also where it adds too little to be seen, then to the lower id."""
    end = [1.0, 0.0, 0.0, 0.0, 0.0, 0.0]
    first = [0.0, 0.0, 0.5, 0.25, 0.0, 0.0]
    after = {2: [0, 0, 0, 0, 0.125, 0.25], 3: [0, 0, 0, 0, 0.5, 0.25], 4: end, 5: end}
    assert search_script(first, after) == [[2, 5], [3, 4], [2, 4], [3, 5]]
    nearly_one = 1 - 2**-53
    after = {2: [0, 0, 0, nearly_one, 1.0, 1.0], 3: end, 4: end, 5: end}
    assert np.log(1e-300) + np.log(nearly_one) == np.log(1e-300)
    assert search_script([0.0, 0.0, 1e-300, 0.0, 0.0, 0.0], after) == [[2, 4], [2, 5], [2, 3]]


@pytest.mark.parametrize("normalize", [False, True])
def test_ties_of_finished_hypotheses(normalize):
    """The first comes first, then the better placed. Divided by length, 1/2 once is as good as 1/2 twice."""
    first = [0.5 if normalize else 0.25, 0.0, 0.5, 0.25]
    after = {2: [0.5, 0, 0, 0], 3: [1.0, 0, 0, 0]}
    assert search_script(first, after, normalize_by_length=normalize) == [[], [2], [3]]


def test_finished_hypothesis_takes_a_place():
    """Of a beam of two one place is left, so the second word of the other hypothesis is never tried."""
    after = {2: [0.3, 0, 0, 0.7], 3: [1.0, 0, 0, 0]}
    n_best = search_script([0.4, 0, 0.6, 0], after, beam=2, n_best=2, normalize_by_length=True)
    assert n_best == [[2, 3], []]


def test_unfinished_hypothesis_at_the_step_limit():
    """If none ends, the best of the beam is taken."""
    after = {2: [0, 0, 0.6, 0.4], 3: [0, 0, 0.8, 0.2]}
    changes = {"beam": 2, "n_best": 2, "max_length_factor": 3}
    assert search_script([0, 0, 0.6, 0.4], after, **changes) == [[2] * 9]


def test_late_syncs_change_nothing(model_type, monkeypatch):
    """As on a GPU: finished sentences stay in the batch for a while, inactive hypotheses are computed."""
    model = small_model(model_type)
    options = {"beam": 4, "max_length_factor": 3, "if_no_eos": "retry"}
    expected = search(model, MANY_SOURCES, **options)
    monkeypatch.setattr(beam_search, "can_sync_every_step", lambda device: False)
    for hypothesis, other in zip(search(model, MANY_SOURCES, **options), expected, strict=True):
        assert (hypothesis.ids, hypothesis.finished) == (other.ids, other.finished)


def test_unused_ids_are_never_written(model_type):
    """Even by a model that would rather write them than anything else. The last word can be written."""
    model = small_model(model_type, unused_ids=2)
    with torch.no_grad():
        model.readout.b_o[TARGET_VOCABULARY:] += 50.0
        model.readout.b_o[TARGET_VOCABULARY - 1] += 20.0
    for hypothesis in search(model, SOURCES, beam=50, max_length_factor=3, min_length="half"):
        assert max(hypothesis.ids) == TARGET_VOCABULARY - 1


def test_unfinished_search_is_repeated():
    model = small_model("rnnsearch")
    with torch.no_grad():
        model.readout.b_o[END] -= 4.5

    def finished(beam: int, **changes: object) -> list[bool]:
        results = search(model, SOURCES, beam=beam, max_length_factor=1, **changes)
        return [hypothesis.finished for hypothesis in results]

    assert not all(finished(1))
    assert all(finished(1, if_no_eos="retry"))
    assert finished(1, if_no_eos="retry", max_beam=2) == finished(2) and not all(finished(2))


def test_retry_allows_the_unknown_word():
    """`retry` allows it before any wider beam, and however wide the first one was; `widen_beam` never does."""
    model = ScriptedModel(  # END, [UNK], a word that goes on, another
        [0.0, 0.6, 0.4, 0.0], {UNKNOWN: [0.9, 0.0, 0.1, 0.0], 2: [0.1, 0.0, 0.8, 0.1]}
    )

    def best(**changes: object) -> tuple[list[int], bool]:
        settings = decoding(beam=1, **changes)
        ((hypothesis, *_),) = beam_search.search(model, sources(1), np.array([1]), settings, True)
        return hypothesis.ids, hypothesis.finished

    assert best() == ([2, 2], False)
    assert best(if_no_eos="retry", max_beam=1) == ([UNKNOWN], True)
    assert best(if_no_eos="retry", max_beam=2) == ([UNKNOWN], True)
    assert best(if_no_eos="widen_beam", max_beam=1) == ([2, 2], False)
    assert best(if_no_eos="widen_beam", max_beam=2) == ([2], True)


def test_plan_of_retries():
    def plan(
        forbid: bool, if_no_eos: str, max_beam: int = 10, budget: float | None = None
    ) -> list[tuple[int, bool]]:
        settings = decoding(beam=3, max_beam=max_beam, if_no_eos=if_no_eos, widening_budget=budget)
        return [*beam_search.plan_retries(settings, forbid)]

    assert plan(False, "best") == []
    assert plan(False, "retry") == plan(False, "widen_beam") == [(6, False), (12, False)]
    assert plan(True, "retry") == [(3, False), (6, False), (12, False)]
    assert plan(True, "widen_beam") == [(6, True), (12, True)]
    assert plan(True, "retry", max_beam=3) == [(3, False)]
    # beams of 6 and 12 cost two and four times the first search, and the unknown word's as much as the first
    assert plan(True, "widen_beam", budget=6) == [(6, True), (12, True)]
    assert plan(True, "widen_beam", budget=5.9) == plan(True, "widen_beam", budget=2) == [(6, True)]
    assert plan(True, "retry", budget=6) == [(3, False), (6, False)]
    assert plan(True, "retry", budget=0.9) == plan(False, "widen_beam", budget=1.9) == []


def test_empty_source_is_read_as_the_end_symbol(model_type):
    """Also by a model that reads no end symbols, in whatever batch; the other sentences stay the same."""
    model = small_model(model_type, source_eos=False)
    options = {"beam": 4, "max_length_factor": 3, "if_no_eos": "retry"}
    (empty,), (other,) = (search(model, [source], **options) for source in ([], [6]))
    together = search(model, [[], [6], [2, 2, 7]], **options)
    for hypothesis, expected in zip(together, (empty, other), strict=False):
        assert (hypothesis.ids, hypothesis.finished) == (expected.ids, expected.finished)
        assert hypothesis.log_probability == pytest.approx(expected.log_probability, rel=1e-12)
    assert (word_log_probs(model, [END], empty.ids) == word_log_probs(model, [], empty.ids)).all()


@pytest.mark.parametrize("normalize", [False, True])
def test_nan_is_refused(normalize):
    model = small_model("rnnsearch")
    with torch.no_grad():
        model.readout.b_o.fill_(torch.nan)
    with refused():
        search(model, SOURCES, normalize_by_length=normalize)


@given(
    st.integers(1, 4), st.integers(1, 90), st.integers(1, 12), st.integers(1, 6), st.integers(0, 1000), st.booleans()
)  # fmt: skip
def test_stable_topk_matches_sorting(rows, width, k, levels, seed, has_infinity):
    """Few levels make many ties."""
    random_values = np.random.default_rng(seed).integers(0, levels, (rows, width + 3)).astype(np.float32)
    values = torch.from_numpy(random_values)[:, :width]  # a view, as where ids have no word
    if has_infinity:
        values.masked_fill_(values == 0, -torch.inf)
    k = min(k, width)
    expected, columns = values.sort(dim=1, descending=True, stable=True)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(beam_search, "CHUNK_COLUMNS", 4)
        for result in (stable_topk(values, k), stable_topk_of_long_rows(values, k)):
            torch.testing.assert_close(result[0], expected[:, :k], rtol=0, atol=0)
            assert result[1].equal(columns[:, :k])
