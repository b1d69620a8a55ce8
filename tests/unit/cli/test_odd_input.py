"""Every subcommand with values and files that it was not made for: it works, or says why not in a line."""

from __future__ import annotations

import contextlib
import json
import shutil
from pathlib import Path

import click
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from nmt.cli import list_subcommands, load_subcommand
from nmt.io.compression import zstd
from pipeline.config.layers import find_layers, merge_layers
from tests.odd_values import DEEP, JUNK, altered_values, said
from tests.running import ROOT
from tests.translators import trained_model

OTHERS = {"preflight", "status", "verify"}
"""Those that start Snakemake or connections; tests of their own give them odd input."""
PAPER = merge_layers(find_layers(ROOT))
FILES = {
    "empty": b"",
    "text": "the old book\nle ’ vieux\u2028livre \x1b[31m\n".encode(),
    "bytes": bytes(range(256)) * 10,
    "rows.tsv": b"0\t</s>\t1\n1\t[UNK]\t1\n2\ta\t-1\n3\ta\tx\n",
    "rows.jsonl": b'{"line": 0, "source": "a", "text": "b"}\n{"line": "0"}\n[]\n',
    "object.json": b'{"model": "a", "seed": 1, "label": "x", "bleu_all": null, "words": {"a": "b"}}',
    "list.json": b"[1, null, {}]",
    "deep.json": DEEP.encode(),
    "text.zst": zstd.compress(b"a b\nc\n"),
    "cut.zst": zstd.compress(b"a b\nc\n" * 99)[:-3],
    "long": b"a " * 1_000_000,
    "paper.yaml": (ROOT / "workflow" / "papers" / "bahdanau2015.yaml").read_bytes(),
}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Files of many kinds, the folder of a model."""
    place = tmp_path_factory.mktemp("odd")
    trained_model(place / "made")
    return place


def value_of(kind: click.ParamType, settings: bool) -> st.SearchStrategy[list[str]]:
    """The words of a parameter on the command line."""
    if isinstance(kind, click.Tuple):
        return st.tuples(*(value_of(part, False) for part in kind.types)).map(
            lambda words: [word for part in words for word in part]
        )
    if settings:
        texts = (altered_values(PAPER[key]) for key in ("training", "decoding", "cleaning", "artifacts"))
        return (st.one_of(*texts) | altered_values(PAPER) | st.dictionaries(st.text(), JUNK)).map(
            lambda value: [json.dumps(value)]
        )
    if isinstance(kind, click.Choice):
        return st.sampled_from([[str(choice)] for choice in kind.choices])
    if isinstance(kind, click.Path):
        made = ("made", "made/model", "made/source.tsv", "made/text")
        places = [*FILES, *made, "new", "no/where", "-", ""]
        return st.sampled_from([[place] for place in places])
    numbers = st.sampled_from(["0", "1", "2", "-1", "2147483648", "9" * 30, "nan", "1e308", "x", "a.b-c", ""])
    return (numbers | st.text(st.characters(codec="utf-8", exclude_characters="\0"), max_size=5)).map(
        lambda word: [word]
    )


@st.composite
def command_lines(draw: st.DrawFn, subcommand: str) -> list[str]:
    """All parameters that must be given, and some that may."""
    command = load_subcommand(subcommand)
    assert command is not None
    words: list[str] = []
    for parameter in command.params:
        if not parameter.required and draw(st.booleans()):
            continue
        flag = isinstance(parameter, click.Option) and parameter.is_flag
        kind = click.Path() if parameter.name in ("patterns", "inputs") else parameter.type
        kinds = [kind] * (1 if isinstance(kind, click.Tuple) else max(parameter.nargs, 1))
        settings = parameter.metavar == "JSON|FILE"
        values = [word for kind in kinds for word in draw(value_of(kind, settings))]
        name = [parameter.opts[0]] if isinstance(parameter, click.Option) else []
        words += name if flag else [*name, *values]
    return [*subcommand.split(), *words]


@pytest.mark.fuzz
@pytest.mark.parametrize("subcommand", sorted(list_subcommands().keys() - OTHERS))
@settings(max_examples=settings.default.max_examples // 5)
@given(data=st.data())
def test_whatever_a_subcommand_is_given_is_used_or_refused_in_a_line(
    folder: Path, subcommand: str, data: st.DataObject
) -> None:
    words = data.draw(command_lines(subcommand), "command")
    for name, content in FILES.items():
        if (folder / name).is_dir():
            shutil.rmtree(folder / name)
        (folder / name).write_bytes(content)
    with contextlib.chdir(folder):
        said(*words)
