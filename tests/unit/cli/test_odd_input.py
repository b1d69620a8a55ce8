"""Every subcommand with random values and files: it works, or prints one line that says why not."""

import contextlib
import json
import shutil
from pathlib import Path

import click
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from nmt.io.compression import zstd
from pipeline.config.layers import find_layers, merge_layers
from tests.odd_values import DEEP, JUNK, altered_values, said
from tests.running import ROOT, list_subcommands
from tests.translators import trained_model

LEFT_OUT = {"preflight", "status", "verify"}
"""Subcommands that start Snakemake or open connections; they have tests of their own."""
PAPER = merge_layers(find_layers(ROOT))
FILES = {
    "empty": b"",
    "text": "the old book\nle ’ vieux\u2028livre \x1b[31m\n".encode(),
    "bytes": bytes(range(256)) * 10,
    "rows.tsv": b"0\t</s>\t1\n1\t[UNK]\t1\n2\ta\t-1\n3\ta\tx\n",
    "rows.jsonl": b'{"line": 0, "source_tokens": ["a"], "tokens": ["b"]}\n{"line": "0"}\n[]\n',
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
    """A folder with the folder of a model; the test writes `FILES` into it."""
    folder = tmp_path_factory.mktemp("odd")
    trained_model(folder / "made")
    return folder


def parameter_values(kind: click.ParamType, is_settings: bool) -> st.SearchStrategy[list[str]]:
    """Return a strategy for the words of a parameter on the command line."""
    if isinstance(kind, click.Tuple):
        values = [parameter_values(part, False) for part in kind.types]
        return st.tuples(*values).map(lambda words: [word for value in words for word in value])
    if is_settings:
        blocks = [altered_values(PAPER[key]) for key in ("training", "decoding", "cleaning", "artifacts")]
        settings = st.one_of(*blocks, altered_values(PAPER), st.dictionaries(st.text(), JUNK))
        return settings.map(lambda value: [json.dumps(value)])
    if isinstance(kind, click.Choice):
        return st.sampled_from([[str(choice)] for choice in kind.choices])
    if isinstance(kind, click.Path):
        paths = [*FILES, "made", "made/model", "made/source.tsv", "made/text", "new", "no/where", "-", ""]
        return st.sampled_from([[path] for path in paths])
    numbers = st.sampled_from(["0", "1", "2", "-1", "2147483648", "9" * 30, "nan", "1e308", "x", "a.b-c", ""])
    texts = st.text(st.characters(codec="utf-8", exclude_characters="\0"), max_size=5)
    return (numbers | texts).map(lambda word: [word])


@st.composite
def command_lines(draw: st.DrawFn, subcommand: str) -> list[str]:
    """Return a strategy for the words of a command line: all required parameters, and some others."""
    words = subcommand.split()
    for parameter in list_subcommands()[subcommand].params:
        if not parameter.required and draw(st.booleans()):
            continue
        if isinstance(parameter, click.Option):
            words.append(parameter.opts[0])
            if parameter.is_flag:
                continue
        kind = click.Path() if parameter.name == "inputs" else parameter.type
        count = 1 if isinstance(kind, click.Tuple) else max(parameter.nargs, 1)
        for _ in range(count):
            words += draw(parameter_values(kind, parameter.metavar == "JSON|FILE"))
    return words


@pytest.mark.fuzz
@pytest.mark.parametrize("subcommand", sorted(list_subcommands().keys() - LEFT_OUT))
@settings(max_examples=settings.default.max_examples // 5)
@given(data=st.data())
def test_random_command_lines_work_or_are_refused(folder, subcommand, data):
    words = data.draw(command_lines(subcommand), "command")
    for name, content in FILES.items():
        if (folder / name).is_dir():
            shutil.rmtree(folder / name)
        (folder / name).write_bytes(content)
    with contextlib.chdir(folder):
        said(*words)
