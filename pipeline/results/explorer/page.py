"""A page to explore translations and what each word attended to: one file, without a network.

The page's parts lie beside this module, what it shares with other pages in `pipeline/results/templates`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import Any

import numpy as np

from nmt.errors import UserError
from nmt.evaluation.bleu import multi_bleu, sentence_counts
from nmt.evaluation.translations import Record, read_records, words
from nmt.evaluation.trees import read_trees
from nmt.io.text_files import read_lines
from pipeline.results.one_file import pack, write

ESCAPES = (
    ("&apos;", "'"),
    ("&quot;", '"'),
    ("&lt;", "<"),
    ("&gt;", ">"),
    ("&#124;", "|"),
    ("&#91;", "["),
    ("&#93;", "]"),
    ("&amp;", "&"),
)
"""What Moses' tokenizer writes for characters that its decoder takes for its own; the page shows the characters."""

LEVELS = 255
"""Steps in which the page knows a weight: an error of 0.002 at most."""


def write_explorer(
    translations: Sequence[tuple[str, Path]],
    reference: Path,
    title: str,
    output: Path,
    compared: Sequence[str] = (),
    trees: Mapping[str, Path] = MappingProxyType({}),
    languages: tuple[str, str] = ("", ""),
    given: Mapping[str, Path] = MappingProxyType({}),
) -> int:
    """Write the page; returns the number of sentences.

    Args:
        translations: label of each model and its translations of the same lines, as `decode` wrote them.
        reference: the test set's other side, tokenized.
        title: heading of the page.
        output: the HTML file.
        compared: labels of the models shown at first, at most two; the page chooses where none is given.
        trees: files of the trees that models make of the source, by their labels.
        languages: codes of source and target, for the browser's fonts and voices; empty: unknown.
        given: other systems' translations of the whole test set, tokenized, by their labels.

    Raises:
        UserError: labels that no translations have, files that do not belong together.
    """
    labels = [label for label, _ in translations]
    if len(compared) > 2:
        raise UserError(f"--compared: found {len(compared)} labels, expected two at most")
    for label in compared:
        if label not in labels:
            raise UserError(f"--compared {label}: no such label; expected one of {', '.join(labels)}")
    references = [words(line) for line in read_lines(reference)]
    values, weights = _collect(translations, references, reference)
    for label in trees:
        if label not in labels:
            raise UserError(f"--trees {label}: no such label; expected one of {', '.join(labels)}")
    gates = _add_trees(values["models"], values["lines"], trees)
    values["models"] += [_given(label, path, values["lines"], references) for label, path in given.items()]
    values["languages"] = list(languages)
    values["compared"] = [labels.index(label) for label in compared]
    write(output, __package__, ["tree.js", "explorer.js"], title, pack(values, weights + gates))
    return len(values["source"])


def _collect(
    translations: Sequence[tuple[str, Path]], references: Sequence[list[str]], reference: Path
) -> tuple[dict[str, Any], bytes]:
    """Everything that the page shows, and all weights, model after model, each row by row."""
    models, weights = [], bytearray()
    first: list[tuple[int, list[str]]] = []
    unknown: list[int] = []
    for label, path in translations:
        records = list(read_records(path))
        lines = [(record.line, record.source) for record, _ in records]
        if not first:
            first, unknown = lines, [value.get("source_unknown", 0) for _, value in records]
        _refuse_other_lines(first, lines, translations[0][1], path)
        _refuse_short(reference, len(references), "lines", [line + 1 for line, _ in lines])
        models.append(_model(label, records, references))
        weights += b"".join(_quantised(record) for record, _ in records)
    kept = [references[line] for line, _ in first]
    values = {
        "lines": [line + 1 for line, _ in first],
        "source": [_shown(source) for _, source in first],
        "reference": [_shown(tokens) for tokens in kept],
        "unknown": unknown,
        "models": models,
    }
    return values, bytes(weights)


def _refuse_other_lines(
    first: Sequence[tuple[int, list[str]]], lines: Sequence[tuple[int, list[str]]], one: Path, other: Path
) -> None:
    if len(first) != len(lines):
        raise UserError(
            f"{other}: {len(lines)} sentences, but {one} has {len(first)}; expected the same ones"
        )
    for number, (expected, found) in enumerate(zip(first, lines, strict=True), start=1):
        if expected != found:
            raise UserError(f"{other}, line {number}: another sentence than in {one}; expected the same ones")


def _refuse_short(path: Path, found: int, what: str, lines: Sequence[int]) -> None:
    last = max(lines, default=0)
    if last > found:
        raise UserError(f"{path}: {found} {what}, expected at least {last}, as the translations say")


def _model(
    label: str, records: Sequence[tuple[Record, dict[str, Any]]], references: Sequence[list[str]]
) -> dict[str, Any]:
    """What the page shows of a model. counts: n-grams of a sentence that the reference has too, n = 1 to 4."""
    metric = multi_bleu(effective_order=True)
    pairs = ((" ".join(record.target), " ".join(references[record.line])) for record, _ in records)
    return {
        "label": label,
        "text": [_shown(record.target) for record, _ in records],
        "score": [
            round(value["log_probability"], 3) if "log_probability" in value else None for _, value in records
        ],
        "finished": [int(record.finished) for record, _ in records],
        "counts": [list(sentence_counts(text, other, metric).correct) for text, other in pairs],
        "shape": [_shape(record) for record, _ in records],
    }


def _given(label: str, path: Path, lines: Sequence[int], references: Sequence[list[str]]) -> dict[str, Any]:
    """What the page shows of another system: texts without scores, which end and align nothing."""
    texts = list(read_lines(path))
    _refuse_short(path, len(texts), "lines", lines)
    records = [Record(line - 1, [], words(texts[line - 1]), None) for line in lines]
    return _model(label, [(record, {}) for record in records], references)


def _add_trees(models: list[dict[str, Any]], lines: Sequence[int], trees: Mapping[str, Path]) -> bytes:
    """Say how many leaves each tree of a model has; all gates, model after model, sentence after sentence."""
    gates = bytearray()
    for model in models:
        if path := trees.get(model["label"]):
            found = list(read_trees(path))
            _refuse_short(path, len(found), "trees", lines)
            chosen = [found[line - 1] for line in lines]
            model["leaves"] = [tree.leaves for tree in chosen]
            gates += b"".join(tree.gates for tree in chosen)
    return bytes(gates)


def _shape(record: Record) -> list[int]:
    """Rows and columns of an alignment; none where the model does not align."""
    return [len(record.alignment), len(record.alignment[0])] if record.alignment else [0, 0]


def _quantised(record: Record) -> bytes:
    """The weights row by row, a byte each."""
    if not record.alignment:
        return b""
    return (
        np.rint(np.array(record.alignment, dtype=np.float64) * LEVELS)
        .clip(0, LEVELS)
        .astype(np.uint8)
        .tobytes()
    )


def _shown(tokens: Sequence[str]) -> str:
    """Tokens with the characters that they stand for, at spaces."""
    return " ".join(map(_unescaped, tokens))


def _unescaped(token: str) -> str:
    for written, meant in ESCAPES:
        token = token.replace(written, meant)
    return token


def refuse_twice(option: str, pairs: Sequence[tuple[str, Path]]) -> None:
    """Raise a UserError for a label that stands twice, since the page tells models apart by their labels."""
    labels = [label for label, _ in pairs]
    for label in labels:
        if labels.count(label) > 1:
            raise UserError(f"{option}: the label {label!r} stands twice; expected one for each model")
