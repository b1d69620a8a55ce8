"""The explorer's page: what is in it, and files that do not belong together."""

from __future__ import annotations

import base64
import json
import re
import struct
import zlib
from pathlib import Path
from typing import Any

import pytest

from nmt.evaluation.bleu import multi_bleu
from nmt.evaluation.trees import as_line
from pipeline.results.explorer.page import refuse_twice, write_explorer
from tests.messages import refused

SENTENCES = [
    ("l&apos; école", "the school", [[0.9, 0.05, 0.05], [0.2, 0.8, 0.0], [0.0, 0.0, 1.0]]),
    ("un chat noir dort ici", "a black cat sleeps here", None),
]


def translations(path: Path, **changes: Any) -> Path:
    with path.open("w", encoding="utf-8") as file:
        for line, (text, source, alignment) in enumerate(SENTENCES):
            record = {
                "line": line,
                "source": source,
                "text": text,
                "log_probability": -1.23456,
                "finished": True,
            }
            record |= {"source_unknown": line, "alignment": alignment, "n_best": []} | changes
            file.write(json.dumps(record) + "\n")
    return path


@pytest.fixture
def reference(tmp_path: Path) -> Path:
    path = tmp_path / "reference.txt"
    path.write_text("l&apos; école\nun chat noir dort là\n", encoding="utf-8")
    return path


def unpacked(page: Path) -> tuple[dict[str, Any], bytes]:
    (data,) = re.findall(
        r'<script id="data" type="text/plain">(.*?)</script>', page.read_text(encoding="utf-8")
    )
    whole = zlib.decompress(base64.b64decode(data))
    (length,) = struct.unpack_from("<I", whole)
    return json.loads(whole[4 : 4 + length]), whole[4 + length :]


def test_the_page_holds_texts_scores_and_weights(tmp_path: Path, reference: Path) -> None:
    page = tmp_path / "explorer.html"
    assert write_explorer([("A & B", translations(tmp_path / "a.jsonl"))], reference, "T <1>", page) == 2
    values, weights = unpacked(page)
    (model,) = values["models"]
    assert values["reference"] == ["l' école", "un chat noir dort là"]
    assert (values["lines"], values["unknown"]) == ([1, 2], [0, 1])
    assert (model["label"], model["shape"]) == ("A & B", [[3, 3], [0, 0]])
    assert model["counts"] == [[2, 1, 0, 0], [4, 3, 2, 1]]
    assert list(weights) == [230, 13, 13, 51, 204, 0, 0, 0, 255]
    assert "<title>T &lt;1&gt;</title>" in page.read_text(encoding="utf-8")
    assert not re.search(r'(src|href)="(?!#)', page.read_text(encoding="utf-8"))


def test_another_system_stands_beside_the_models(tmp_path: Path, reference: Path) -> None:
    page, moses = tmp_path / "explorer.html", tmp_path / "moses.txt"
    moses.write_text("l&apos; école\nun chat dort\n", encoding="utf-8")
    model = [("A", translations(tmp_path / "a.jsonl"))]
    write_explorer(model, reference, "T", page, given={"Moses": moses})
    shown = unpacked(page)[0]["models"][1]
    assert (shown["label"], shown["text"]) == ("Moses", ["l' école", "un chat dort"])
    assert (shown["score"], shown["finished"], shown["shape"]) == ([None, None], [1, 1], [[0, 0], [0, 0]])
    assert shown["counts"] == [[2, 1, 0, 0], [3, 1, 0, 0]]
    moses.write_text("l&apos; école\n", encoding="utf-8")
    with refused():
        write_explorer(model, reference, "T", page, given={"Moses": moses})


def test_counts_give_the_score_of_the_tables(tmp_path: Path, reference: Path) -> None:
    page = tmp_path / "explorer.html"
    write_explorer([("A", translations(tmp_path / "a.jsonl"))], reference, "T", page)
    (model,) = unpacked(page)[0]["models"]
    hypotheses = [text for text, _, _ in SENTENCES]
    score = multi_bleu().corpus_score(hypotheses, [reference.read_text(encoding="utf-8").splitlines()])
    assert [sum(sentence[n] for sentence in model["counts"]) for n in range(4)] == score.counts


def test_the_same_files_give_the_same_bytes(tmp_path: Path, reference: Path) -> None:
    one, other = tmp_path / "one.html", tmp_path / "other.html"
    for page in (one, other):
        write_explorer([("A", translations(tmp_path / "a.jsonl"))], reference, "T", page)
    assert one.read_bytes() == other.read_bytes()


def test_files_that_do_not_belong_together(tmp_path: Path, reference: Path) -> None:
    one, page = ("A", translations(tmp_path / "a.jsonl")), tmp_path / "explorer.html"
    other = ("B", translations(tmp_path / "b.jsonl", source="another sentence", alignment=None))
    with refused():
        write_explorer([one, other], reference, "T", page)
    other[1].write_text(other[1].read_text(encoding="utf-8").split("\n")[0] + "\n", encoding="utf-8")
    with refused():
        write_explorer([one, other], reference, "T", page)
    reference.write_text("l&apos; école\n", encoding="utf-8")
    with refused():
        write_explorer([one], reference, "T", page)
    with refused():
        write_explorer([one], reference, "T", page, ["C"])
    with refused():
        write_explorer([one], reference, "T", page, ["A", "A", "A"])
    with refused():
        refuse_twice("--translations, --given", [one, ("A", reference)])
    assert not page.exists()


def test_trees_stand_behind_the_weights(tmp_path: Path, reference: Path) -> None:
    page, trees = tmp_path / "explorer.html", tmp_path / "trees.jsonl"
    gates = [[[1.0, 0.0, 0.0], [0.0, 1.0, 0.0]], [[0.0, 0.0, 1.0]]]
    trees.write_text(f"{as_line(gates)}\n{as_line([])}\n", encoding="utf-8")
    models = [
        ("A", translations(tmp_path / "a.jsonl")),
        ("B", translations(tmp_path / "b.jsonl", alignment=None)),
    ]
    write_explorer(models, reference, "T", page, trees={"B": trees})
    values, rest = unpacked(page)
    assert values["models"][1]["leaves"] == [3, 1] and "leaves" not in values["models"][0]
    assert rest[9:] == bytes([255, 0, 0, 0, 255, 0, 0, 0, 255]) and len(rest) == 9 + 9
    with refused():
        write_explorer(models, reference, "T", page, trees={"C": trees})
    trees.write_text(f"{as_line(gates)}\n", encoding="utf-8")
    with refused():
        write_explorer(models, reference, "T", page, trees={"B": trees})
