"""Beam search against enumeration of every sequence, and its rules one by one."""

from __future__ import annotations

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
from nmt.decoding.beam_search import Hypothesis, largest, largest_of_many
from nmt.decoding.ensemble import Ensemble
from nmt.decoding.shortlist import Shortlist
from nmt.model.encoder_decoder import EncoderDecoder
from nmt.settings.model_types import ModelTypeName
from tests.messages import refused
from tests.scripted_model import ScriptedModel, sources
from tests.small_models import TARGET_VOCABULARY, small_model
from tests.training_settings import decoding

SOURCES = [[3, 5], [6], [2, 2, 7]]


def padded(model: Any, sources: list[list[int]]) -> tuple[torch.Tensor, torch.Tensor]:
    """The sources and their lengths, for a model or an ensemble."""
    ids = [np.array(source, dtype=np.uint16) for source in sources]
    first = getattr(model, "models", [model])[0]
    batch = pad_pairs(ids, [ids[0][:0]] * len(ids), first.architecture.source_eos)
    return batch.source, batch.source_lengths


def encode(model: Any, sources: list[list[int]]) -> tuple[Any, np.ndarray]:
    return model.encode(*padded(model, sources)), np.array([len(s) for s in sources])


@torch.no_grad()
def log_probability(model: EncoderDecoder, source: list[int], words: list[int]) -> float:
    """log p(words, end | source), step by step."""
    encoded, _ = encode(model, [source])
    steps, total = model.start_search(encoded), 0.0
    for word in [*words, END]:
        total += float(steps.predict().log_probs[0, word])
        steps.reorder_and_append(torch.tensor([[0]]), torch.tensor([[word]]))
    return total


@cache
def enumerated(model_type: ModelTypeName, source: tuple[int, ...]) -> list[Hypothesis]:
    """Every sequence of at most as many words as the source."""
    model, words = small_model(model_type), [word for word in range(TARGET_VOCABULARY) if word != END]
    return [
        Hypothesis([*sequence], log_probability(model, [*source], [*sequence]), True)
        for length in range(len(source) + 1)
        for sequence in product(words, repeat=length)
    ]


@torch.no_grad()
def n_best_of(
    model: EncoderDecoder | Ensemble,
    sources: list[list[int]],
    forbid: bool,
    shortlist: Shortlist | None = None,
    **changes: object,
) -> list[list[Hypothesis]]:
    encoded, lengths = encode(model, sources)
    candidates = shortlist.candidates(padded(model, sources)[0]) if shortlist else None
    return beam_search.search(model, encoded, lengths, decoding(**changes), forbid, candidates)


def search(
    model: EncoderDecoder, sources: list[list[int]], forbid: bool, **changes: object
) -> list[Hypothesis]:
    return [found[0] for found in n_best_of(model, sources, forbid, **changes)]


@pytest.mark.parametrize("normalize", [False, True])
@pytest.mark.parametrize("min_length", ["half", "none"])
@pytest.mark.parametrize("forbid", [False, True])
def test_a_wide_beam_finds_the_best_of_all_sequences(
    model_type: ModelTypeName, normalize: bool, min_length: str, forbid: bool
) -> None:
    model = small_model(model_type)
    everything = TARGET_VOCABULARY ** (max(map(len, SOURCES)) + 1)
    found = search(
        model, SOURCES, forbid, beam=everything, normalize_by_length=normalize, min_length=min_length
    )
    for source, hypothesis in zip(SOURCES, found, strict=True):
        least = (len(source) + 1) // 2 if min_length == "half" else 0
        allowed = [
            other
            for other in enumerated(model_type, tuple(source))
            if len(other.ids) >= least and not (forbid and UNKNOWN in other.ids)
        ]
        expected = max(
            allowed, key=lambda other: other.log_probability / (len(other.ids) + 1 if normalize else 1)
        )
        assert hypothesis.ids == expected.ids
        assert hypothesis.log_probability == pytest.approx(expected.log_probability, rel=1e-9)
        assert hypothesis.finished


@torch.no_grad()
def test_width_one_is_greedy(model_type: ModelTypeName) -> None:
    model = small_model(model_type)
    for source, hypothesis in zip(
        SOURCES, search(model, SOURCES, False, beam=1, max_length_factor=4), strict=True
    ):
        encoded, _ = encode(model, [source])
        steps, words = model.start_search(encoded), list[int]()
        while len(words) < 4 * (len(source) + 1):
            words.append(int(steps.predict().log_probs[0].argmax()))
            if words[-1] == END:
                break
            steps.reorder_and_append(torch.tensor([[0]]), torch.tensor([[words[-1]]]))
        assert hypothesis.ids == [word for word in words if word != END]
        assert hypothesis.finished == (words[-1] == END)


def scrambled(model: EncoderDecoder, sources: list[list[int]], **options: object) -> list[list[Hypothesis]]:
    """The same sentences in another order, in two batches, behind much padding."""
    order = [*range(1, len(sources), 2), *range(0, len(sources), 2)]
    padded = [*order, None]
    found: dict[int, list[Hypothesis]] = {}
    for half in (padded[: len(order) // 2], padded[len(order) // 2 :]):
        rows = [sources[row] if row is not None else [4] * 12 for row in half]
        for row, hypotheses in zip(half, n_best_of(model, rows, False, **options), strict=True):
            if row is not None:
                found[row] = hypotheses
    return [found[row] for row in range(len(sources))]


MANY = [list(map(int, line)) for line in np.random.default_rng(4).integers(2, 9, (30, 9))]
MANY = [line[: 1 + number % 9] for number, line in enumerate(MANY)]


@pytest.mark.parametrize("normalize", [False, True])
def test_in_float64_batch_order_and_padding_change_nothing(
    model_type: ModelTypeName, normalize: bool
) -> None:
    model = small_model(model_type)
    with torch.no_grad():
        model.readout.b_o[END] = 3.0  # translations end
    options = {"beam": 4, "max_length_factor": 3, "normalize_by_length": normalize, "if_no_eos": "retry"}
    options["n_best"] = 4
    lists = n_best_of(model, MANY, False, **options)
    assert max(map(len, lists)) == 4
    for first, second in zip(lists, scrambled(model, MANY, **options), strict=True):
        for one, other in zip(first, second, strict=True):
            assert (one.ids, one.finished) == (other.ids, other.finished)
            assert one.log_probability == pytest.approx(other.log_probability, rel=1e-12)


def test_ties_go_to_the_lower_id(model_type: ModelTypeName) -> None:
    """Where all words are equally likely, for ever, everything is a tie."""
    model = small_model(model_type)
    with torch.no_grad():
        model.readout.W_o.zero_()
        model.readout.b_o.zero_()
    encoded, lengths = encode(model, SOURCES)
    n_best = beam_search.search(
        model, encoded, lengths, decoding(beam=3, n_best=3, max_length_factor=3), False
    )
    for found in n_best:
        # the end symbol, 0, is the first of all words, and each end takes a place of the beam along
        assert [hypothesis.ids for hypothesis in found] == [[], [1], [1, 1]]


def scripted(first: list[float], after: dict[int, list[float]], **changes: object) -> list[list[int]]:
    """The n best of a scripted model in a beam of 4, from a source of 2 words."""
    settings = decoding(**({"beam": 4, "n_best": 4} | changes))
    (found,) = beam_search.search(ScriptedModel(first, after), sources(1), np.array([2]), settings, False)
    return [hypothesis.ids for hypothesis in found]


def test_ties_go_to_the_better_parent() -> None:
    """Then to the likelier word, also where it adds too little to be seen, then to the lower id."""
    end = [1.0, 0.0, 0.0, 0.0, 0.0, 0.0]
    first = [0.0, 0.0, 0.5, 0.25, 0.0, 0.0]
    after = {2: [0, 0, 0, 0, 0.125, 0.25], 3: [0, 0, 0, 0, 0.5, 0.25], 4: end, 5: end}
    assert scripted(first, after) == [[2, 5], [3, 4], [2, 4], [3, 5]]
    nearly = 1 - 2**-53
    tiny = [0.0, 0.0, 1e-300, 0.0, 0.0, 0.0]
    after = {2: [0, 0, 0, nearly, 1.0, 1.0], 3: end, 4: end, 5: end}
    assert np.log(1e-300) + np.log(nearly) == np.log(1e-300)
    assert scripted(tiny, after) == [[2, 4], [2, 5], [2, 3]]


@pytest.mark.parametrize("normalize", [False, True])
def test_ties_of_finished_ones_go_to_the_first_then_to_the_better_placed(normalize: bool) -> None:
    """Divided by length, 1/2 once is as good as 1/2 twice; undivided, 1/4."""
    first = [0.5 if normalize else 0.25, 0.0, 0.5, 0.25]
    after = {2: [0.5, 0, 0, 0], 3: [1.0, 0, 0, 0]}
    assert scripted(first, after, normalize_by_length=normalize) == [[], [2], [3]]


def test_the_end_symbol_counts_in_the_length_that_divides() -> None:
    """log 0.1 / 2 is more than log 0.3 / 1, and log 0.1 / 3 would be less than log 0.3 / 2."""
    assert scripted([0.3, 0.0, 0.7, 0.0], {2: [1 / 7, 0, 0, 0]}, normalize_by_length=True) == [[2], []]


def test_a_finished_hypothesis_takes_its_place_in_the_beam_along() -> None:
    """Of a beam of two one place is left, so the second word of the rest is never tried."""
    after = {2: [0.3, 0, 0, 0.7], 3: [1.0, 0, 0, 0]}
    found = scripted([0.4, 0, 0.6, 0], after, beam=2, n_best=2, normalize_by_length=True)
    assert found == [[2, 3], []]


def test_where_nothing_ends_the_best_of_the_beam_is_taken() -> None:
    (found,) = scripted([0, 0, 0.6, 0.4], {2: [0, 0, 0.6, 0.4], 3: [0, 0, 0.8, 0.2]}, beam=2, n_best=2)
    assert len(found) > 2 and set(found) == {2}


def test_the_host_may_look_late(model_type: ModelTypeName, monkeypatch: pytest.MonkeyPatch) -> None:
    """As on a GPU: finished sentences stay in the batch for a while, dead hypotheses are computed."""
    model = small_model(model_type)
    options = {"beam": 4, "max_length_factor": 3, "if_no_eos": "retry"}
    now = search(model, MANY, False, **options)
    monkeypatch.setattr(beam_search, "looks_at_each_step", lambda device: False)
    late = search(model, MANY, False, **options)
    assert [(found.ids, found.finished) for found in late] == [(found.ids, found.finished) for found in now]


@pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a GPU")
@pytest.mark.parametrize("normalize", [False, True])
@torch.no_grad()
def test_on_a_gpu_no_step_between_looks_waits_for_the_host(
    model_type: ModelTypeName, normalize: bool
) -> None:
    """All that a search does to a step; torch refuses what would make the host wait."""
    device = torch.device("cuda")
    model = small_model(model_type, torch.float32).to(device)
    ids = [np.array(source, dtype=np.uint16) for source in SOURCES]
    batch = pad_pairs(ids, [ids[0][:0]] * len(ids), True).to(device)
    settings = decoding(beam=4, n_best=2, normalize_by_length=normalize, max_length_factor=3)
    encoded = model.encode(batch.source, batch.source_lengths)
    limits = beam_search.Limits.of(np.array([len(source) for source in SOURCES]), settings)

    def few_steps(first: int, steps: Any, beams: beam_search.Beams) -> None:
        for number in range(first, first + beam_search.SYNC_EVERY - 1):
            chosen = beam_search.step(number, steps, beams, None, True)
            steps.reorder_and_append(chosen.parents, chosen.words)

    few_steps(
        0, model.start_search(encoded), beam_search.Beams(encoded, limits, settings, 4)
    )  # what is set up once
    steps, beams = model.start_search(encoded), beam_search.Beams(encoded, limits, settings, 4)
    torch.cuda.set_sync_debug_mode("error")
    try:
        few_steps(0, steps, beams)
    finally:
        torch.cuda.set_sync_debug_mode("default")


def test_an_id_that_no_word_has_is_never_written(model_type: ModelTypeName) -> None:
    """Even by a model that would rather write it than anything else; what is left keeps its probability."""
    model = small_model(model_type, unused_ids=2)
    with torch.no_grad():
        model.readout.b_o[TARGET_VOCABULARY:] += 50.0
        model.readout.b_o[END] += 2.0  # so that every model type ends within the limit
    for source, found in zip(
        SOURCES, search(model, SOURCES, False, beam=50, max_length_factor=3, min_length="half"), strict=True
    ):
        assert found.finished
        assert all(word < TARGET_VOCABULARY for word in found.ids)
        expected = log_probability(model, source, found.ids)
        assert found.log_probability == pytest.approx(expected, rel=1e-9)


def test_ids_that_no_word_has_leave_every_word_its_chance(model_type: ModelTypeName) -> None:
    model = small_model(model_type, unused_ids=2)
    with torch.no_grad():
        model.readout.b_o[TARGET_VOCABULARY - 1] += 20.0
    for found in search(model, SOURCES, False, max_length_factor=3, min_length="half"):
        assert TARGET_VOCABULARY - 1 in found.ids


def never_ending() -> EncoderDecoder:
    model = small_model("rnnsearch")
    with torch.no_grad():
        model.readout.b_o[END] -= 1000.0
    return model


def test_what_never_ends_is_given_unfinished_at_the_step_limit() -> None:
    for source, found in zip(
        SOURCES, search(never_ending(), SOURCES, False, beam=2, max_length_factor=3), strict=True
    ):
        assert not found.finished
        assert len(found.ids) == 3 * (len(source) + 1)


def test_a_search_in_which_nothing_finishes_is_tried_again_wider() -> None:
    model = small_model("rnnsearch")
    with torch.no_grad():
        model.readout.b_o[END] -= 4.5
    options = {"beam": 1, "max_length_factor": 1}
    stuck = [not found.finished for found in search(model, SOURCES, False, **options)]
    again = search(model, SOURCES, False, if_no_eos="retry", **options)
    assert any(stuck)
    assert all(found.finished for found in again)
    twice = search(model, SOURCES, False, if_no_eos="retry", max_beam=2, **options)
    assert [found.finished for found in twice] == [
        found.finished for found in search(model, SOURCES, False, beam=2, max_length_factor=1)
    ]
    assert not all(found.finished for found in twice)


def test_where_nothing_finishes_the_unknown_word_stays_forbidden_but_in_the_authors_way() -> None:
    """Which allows it before any wider beam, and however wide the first one was."""
    model = ScriptedModel(  # END, [UNK], a word that goes on, another
        [0.0, 0.6, 0.4, 0.0], {UNKNOWN: [0.9, 0.0, 0.1, 0.0], 2: [0.1, 0.0, 0.8, 0.1]}
    )

    def found(**changes: object) -> tuple[list[int], bool]:
        settings = decoding(beam=1, **changes)
        ((best, *_),) = beam_search.search(model, sources(1), np.array([1]), settings, True)
        return best.ids, best.finished

    assert found() == ([2, 2], False)
    assert found(if_no_eos="retry", max_beam=1) == ([UNKNOWN], True)
    assert found(if_no_eos="retry", max_beam=2) == ([UNKNOWN], True)
    assert found(if_no_eos="widen_beam", max_beam=1) == ([2, 2], False)
    assert found(if_no_eos="widen_beam", max_beam=2) == ([2], True)


def test_searches_go_from_the_unknown_word_to_wider_beams() -> None:
    def searches(
        forbid: bool, if_no_eos: str, widest: int = 10, budget: float | None = None
    ) -> list[tuple[int, bool]]:
        settings = decoding(beam=3, max_beam=widest, if_no_eos=if_no_eos, widening_budget=budget)
        return [*beam_search.searches_again(settings, forbid)]

    assert searches(False, "best") == []
    assert searches(False, "retry") == searches(False, "widen_beam") == [(6, False), (12, False)]
    assert searches(True, "retry") == [(3, False), (6, False), (12, False)]
    assert searches(True, "widen_beam") == [(6, True), (12, True)]
    assert searches(True, "retry", widest=3) == [(3, False)]
    # beams of 6 and 12 cost two and four times the first search, and the unknown word's as much as the first
    assert searches(True, "widen_beam", budget=6) == [(6, True), (12, True)]
    assert searches(True, "widen_beam", budget=5.9) == searches(True, "widen_beam", budget=2) == [(6, True)]
    assert searches(True, "retry", budget=6) == [(3, False), (6, False)]
    assert searches(True, "retry", budget=0.9) == searches(False, "widen_beam", budget=1.9) == []


def test_a_source_without_words_is_read_as_the_end_symbol_alone(model_type: ModelTypeName) -> None:
    """Also by a model that reads no end symbols, in whatever batch; the others do not notice."""
    model = small_model(model_type, source_eos=False)
    options: dict[str, Any] = {"beam": 4, "max_length_factor": 3, "if_no_eos": "retry"}
    alone, other = (search(model, [source], False, **options)[0] for source in ([], [6]))
    assert alone.log_probability < 0
    mixed = search(model, [[], [6], [2, 2, 7]], False, **options)
    for one, expected in zip(mixed, (alone, other), strict=False):
        assert (one.ids, one.finished) == (expected.ids, expected.finished)
        assert one.log_probability == pytest.approx(expected.log_probability, rel=1e-12)
    assert log_probability(model, [END], alone.ids) == log_probability(model, [], alone.ids)


@pytest.mark.parametrize("normalize", [False, True])
def test_numbers_that_are_none_are_refused(normalize: bool) -> None:
    model = small_model("rnnsearch")
    with torch.no_grad():
        model.readout.b_o.fill_(torch.nan)
    with refused():
        search(model, SOURCES, False, normalize_by_length=normalize)


def test_without_division_the_early_end_of_the_search_changes_nothing(model_type: ModelTypeName) -> None:
    """n_best beyond the beam keeps every search going to its end."""
    model = small_model(model_type)
    options = {"beam": 5, "max_length_factor": 3}
    early = search(model, SOURCES, False, **options)
    late = search(model, SOURCES, False, n_best=50, **options)
    assert [found.ids for found in early] == [found.ids for found in late]


@given(
    st.integers(1, 4), st.integers(1, 90), st.integers(1, 12), st.integers(1, 6), st.integers(0, 1000), st.booleans()
)  # fmt: skip
def test_the_largest_are_a_stable_sort_s(
    rows: int, width: int, k: int, levels: int, seed: int, lost: bool
) -> None:
    """Few levels make many ties."""
    drawn = np.random.default_rng(seed).integers(0, levels, (rows, width)).astype(np.float32)
    values = torch.from_numpy(drawn)
    if lost:
        values.masked_fill_(values == 0, -torch.inf)
    k = min(k, width)
    expected, columns = values.sort(dim=1, descending=True, stable=True)
    chunk, beam_search.CHUNK = beam_search.CHUNK, 4
    try:
        for found in (largest(values, k), largest_of_many(values, k)):
            torch.testing.assert_close(found[0], expected[:, :k], rtol=0, atol=0)
            assert found[1].equal(columns[:, :k])
    finally:
        beam_search.CHUNK = chunk


@pytest.mark.parametrize("width", [30_000, 30_001])
def test_the_largest_of_long_rows(width: int) -> None:
    generator = torch.Generator().manual_seed(1)
    wide = torch.randint(0, 5000, (8, width + 3), generator=generator).float()
    values = wide[:, :width]  # no memory of its own, as where ids have no word
    expected, columns = values.sort(dim=1, descending=True, stable=True)
    found = largest_of_many(values, 10)
    assert found[0].equal(expected[:, :10])
    assert found[1].equal(columns[:, :10])
