"""A sweep over decoding settings: what each combination of a grid scores on a test set.

A batch of sources is read once for all searches. Division by length needs no search of its own: it only ranks what a
search has finished (`beam_search.best`).
"""

from __future__ import annotations

import hashlib
import json
import time
from collections.abc import Sequence
from itertools import product
from pathlib import Path
from typing import Any

from nmt.decoding.beam_search import Hypothesis, best
from nmt.decoding.test_set import ReadSources, Sentence, by_length, made_from, read_sentences
from nmt.errors import UserError
from nmt.evaluation.bleu import BleuCounts, multi_bleu, text_counts
from nmt.io.files import write_json
from nmt.io.journal import Journal
from nmt.io.progress import Progress
from nmt.model.device import device_name
from nmt.model.trained_model import TrainedModel
from nmt.settings.base import WIDEST
from nmt.settings.decoding import Decoding, Search
from pipeline.config.catalogue import Grid, SweepRun

Tally = dict[str, Any]
"""What translations of some sentences add up to: their `BleuCounts`, how many did not finish, log-probabilities."""

_DIGITS = 6


def sweep_file(
    model: TrainedModel, source: Path, reference: Path, settings: SweepRun, output: Path
) -> dict[str, Any]:
    """Score every combination of the settings on all lines of a test set; returns what it writes to `output`.

    Searches that are done are kept beside `output`: killed, the same call resumes behind them.

    Raises:
        UserError: there is no line.
    """
    sentences = read_sentences(source, reference)
    if not sentences:
        raise UserError(f"{source}: has no lines; a sweep needs sentences to translate")
    groups, searches = list(by_length(sentences, settings.batch_size)), searches_of(settings)
    with (
        Journal(output, _made_from(model, sentences, settings)) as part,
        Progress(len(sentences) * len(searches), "translations", "sweep") as progress,
    ):
        for number, group in enumerate(groups):
            sources = None
            for place, decoding in enumerate(searches, start=number * len(searches)):
                if place not in part.done:
                    sources = sources or ReadSources.by([model], [sentence.source for sentence in group])
                    part.add(place, _tried(model, sources, group, decoding, settings.normalize_by_length))
                progress.update(len(group))
        parts = [part.done[place] for place in range(len(groups) * len(searches))]
        found = {
            **_conditions(model, settings, len(sentences)),
            "scores": [
                score
                for place, decoding in enumerate(searches)
                for score in _scores(decoding, settings, parts[place :: len(searches)])
            ],
        }
        write_json(output, found)
        part.remove()
    return found


def searches_of(settings: SweepRun) -> list[Decoding]:
    """The searches that the grid asks for, each for all rankings at once."""
    ranked = settings.normalize_by_length
    # no search is wider than this, however often it was tried again
    everything = min(WIDEST, 2 * max(settings.widest_beam, *settings.beams))
    kept = {"normalize_by_length": True in ranked, "n_best": everything if len(ranked) > 1 else 1}
    shared = {**kept, **settings.model_dump(include=set(Search.model_fields))}
    return [
        Decoding.model_validate({"beam": beam, "min_length": min_length, "unknown": unknown, **shared})
        for min_length, unknown, beam in product(settings.min_length, settings.unknown, settings.beams)
    ]


def _made_from(model: TrainedModel, sentences: Sequence[Sentence], settings: SweepRun) -> str:
    """A sum of all that decides the scores."""
    total = hashlib.sha256(made_from([model], sentences, searches_of(settings)[0], False).encode())
    total.update(settings.model_dump_json().encode())
    total.update(json.dumps([sentence.reference for sentence in sentences]).encode())
    return total.hexdigest()


def _tried(
    model: TrainedModel,
    sources: ReadSources,
    group: Sequence[Sentence],
    decoding: Decoding,
    rankings: Sequence[bool],
) -> dict[str, Any]:
    """One search of one batch: its seconds, and for each ranking what its best translations add up to."""
    begin = time.perf_counter()
    found = sources.search(decoding, decoding.unknown == "excluded")
    seconds = time.perf_counter() - begin
    chosen = ([best(hypotheses, normalize) for hypotheses in found] for normalize in rankings)
    return {"seconds": seconds, "tallies": [_tally(model, group, one) for one in chosen]}


def _tally(model: TrainedModel, group: Sequence[Sentence], chosen: Sequence[Hypothesis]) -> Tally:
    translations = [" ".join(model.target.words(hypothesis.words)) for hypothesis in chosen]
    references = [" ".join(sentence.reference or []) for sentence in group]
    return {
        **text_counts(translations, references, multi_bleu()).as_dict(),
        "unfinished": sum(not hypothesis.finished for hypothesis in chosen),
        "log_probability": sum(hypothesis.log_probability for hypothesis in chosen),
    }


def _conditions(model: TrainedModel, settings: SweepRun, sentences: int) -> dict[str, Any]:
    """What all scores have in common."""
    metric = multi_bleu()
    # the signature tells the number of references, known once it has seen some
    metric.corpus_score([""], [[""]])
    return {
        **settings.model_dump(exclude=set(Grid.model_fields)),
        "model": model.run.model,
        "seed": model.run.seed,
        "device": device_name(next(model.network.parameters()).device),
        "sentences": sentences,
        "signature": metric.get_signature().format(),
    }


def _scores(
    decoding: Decoding, settings: SweepRun, batches: Sequence[dict[str, Any]]
) -> list[dict[str, Any]]:
    """What one search, batch by batch, scores under each ranking; both share its seconds."""
    seconds = sum(batch["seconds"] for batch in batches)
    return [
        {
            "beam": decoding.beam,
            "normalize_by_length": normalize,
            "min_length": decoding.min_length,
            "unknown": decoding.unknown,
            **_summed([batch["tallies"][place] for batch in batches]),
            "seconds": round(seconds, 3),
        }
        for place, normalize in enumerate(settings.normalize_by_length)
    ]


def _summed(tallies: Sequence[Tally]) -> dict[str, Any]:
    """BLEU, lengths in words (the ratio is of translations to references), and the mean log-probability in nats."""
    first, *others = (BleuCounts.from_dict(tally) for tally in tallies)
    counts = sum(others, start=first)
    total = sum(tally["log_probability"] for tally in tallies)
    ratio = counts.hypothesis_words / counts.reference_words if counts.reference_words else None
    return {
        "bleu": counts.bleu,
        "mean_length": round(counts.hypothesis_words / counts.sentences, _DIGITS),
        "length_ratio": None if ratio is None else round(ratio, _DIGITS),
        "unfinished": sum(tally["unfinished"] for tally in tallies),
        "log_probability": round(total / counts.sentences, _DIGITS),
    }
