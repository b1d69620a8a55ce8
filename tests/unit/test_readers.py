"""Each reader of a format refuses damaged files in one line that names the file; and what messages look like."""

import gzip
import os
import resource
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from nmt.cli import describe_error
from nmt.data.bitext import Bitext
from nmt.data.vocabulary import Vocabulary
from nmt.errors import UserError, errors_as_user_error
from nmt.evaluation.alignment_error_rate import read_gold_alignments
from nmt.evaluation.principal_components import COLUMNS, read_projections
from nmt.evaluation.translations import read_translations
from nmt.io.files import read_file, read_json, sha256
from nmt.io.npy import map_array
from nmt.io.text_files import open_lines, read_lines
from nmt.settings.base import read_settings, validate_settings
from nmt.settings.text import Languages
from nmt.store.archive import unpack_model
from nmt.store.tensors import load_tensors
from nmt.training.history import read_history
from tests.running import run_python


def read_stream(path: Path) -> None:
    with open_lines(path) as lines:
        lines.take_lines(10_000)


def read_bitext(path: Path) -> None:
    """Open a bitext whose description is the file."""
    folder = path.with_name("bitext")
    folder.mkdir()
    for side in ("source", "target"):
        np.save(folder / f"{side}.ids.npy", np.array([2, 3], np.uint16))
        np.save(folder / f"{side}.offsets.npy", np.array([0, 2], np.int64))
    os.rename(path, folder / "meta.json")
    Bitext(folder)


ROW = '{"line": 0, "source_tokens": ["a"], "tokens": ["b"]}'
ALIGNED = '{"line": 0, "source_tokens": ["a"], "tokens": ["b"], "alignment": %s}'
META = '{"pairs": 1, "source_words": 2, "target_words": %s, "shuffled_seed": null, "sha256": "a"'
META += ', "source_vocabulary_sha256": "b", "target_vocabulary_sha256": "c"'
PANELS = "\t".join(COLUMNS)
HEADER = "rank\tword\tcount\n"
SGML = "<doc docid='a'><seg id='1'>a"
READERS: dict[str, tuple[Callable[[Path], Any], list[str]]] = {
    "lines": (
        lambda path: list(read_lines(path)),
        [SGML, f"{SGML}</seg></seg>", "PK\x03\x04", "x" * ((1 << 24) + 1)],
    ),
    "stream": (read_stream, [SGML, "PK\x03\x04"]),
    "JSON": (read_json, ["", '{\n"a": }', "[" * 100_000]),
    "settings": (
        lambda path: read_settings(Languages, path, "write it again"),
        ["", "[]", '{"source": "en"}', '{"source": "EN", "target": 3}'],
    ),
    "bitext": (read_bitext, ["", "[]", "{}", META % '"2"' + "}", META % 9 + "}"]),
    "vocabulary": (
        Vocabulary.read,
        [
            "word\n",
            HEADER + "1\ta\t3\n3\tb\t2\n",
            HEADER + "1\ta\t3\n2\ta\t3\n",
            HEADER + "1\ta\n",
            HEADER + "1\ta\t9999999999999999999\n",
        ],
    ),
    "translations": (
        lambda path: list(read_translations(path)),
        ["{", "[]", ROW.replace('"tokens', '"words'), ROW.replace("0", '"0"'), ROW.replace("0", "-1")],
    ),
    "alignments": (
        lambda path: list(read_translations(path)),
        [ALIGNED % matrix for matrix in ('[["x"]]', "[[1, 0, 0]]", "[[1], [1], [1]]", "[[1], [1, 0]]")],
    ),
    "panels": (read_projections, ["", PANELS, f"{PANELS}\n1\t2\t3", f"{PANELS}\n1\tnan\t0\t0\t0\ta"]),
    "gold": (
        lambda path: read_gold_alignments(path, 1),
        ["x\n", "0-0\n0-0\n", "1 0 1 S\n", "0-0 x\n"],
    ),
    "history": (lambda path: list(read_history(path)), ["{", "[]"]),
    "array": (lambda path: map_array(path, np.int64), ["", "no array"]),
    "tensors": (load_tensors, ["", "no tensors"]),
    "archive": (lambda path: unpack_model(path, path.parent / "out"), ["", "no archive"]),
}
"""Readers, each with texts that are not of its format."""


def check_refused(reader: Callable[[Path], Any], path: Path) -> None:
    with pytest.raises(UserError) as error:
        reader(path)
    message = str(error.value)
    assert message.startswith(str(path.parent)) and "\n" not in message and len(message) < 500


@pytest.mark.parametrize("name", READERS)
def test_other_format_is_refused(tmp_path, name):
    reader, texts = READERS[name]
    for number, text in enumerate(texts):
        path = tmp_path / str(number) / "file"
        path.parent.mkdir()
        path.write_text(text, encoding="utf-8")
        check_refused(reader, path)


@pytest.mark.parametrize("name", sorted(READERS.keys() - {"bitext"}))
def test_missing_or_binary_file_is_refused(tmp_path, name):
    reader, _ = READERS[name]
    paths = [tmp_path / "none", tmp_path]
    if name != "stream":  # which replaces bytes that are not UTF-8
        for content in (b"\xff\xfe\x00" * 100, gzip.compress(os.urandom(9000))[:-5]):
            paths.append(tmp_path / str(len(paths)))
            paths[-1].write_bytes(content)
    for path in paths:
        check_refused(reader, path)


@pytest.mark.parametrize("reader", [read_file, sha256, load_tensors, map_array])
def test_pipes_and_devices_are_refused(tmp_path, reader):
    pipe, zeros = tmp_path / "pipe", tmp_path / "zeros"
    os.mkfifo(pipe)
    zeros.symlink_to("/dev/zero")
    for path in (pipe, zeros):
        check_refused(reader, path)


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ({"sorce": "en"}, "^nmt: source: missing"),
        ({"source": 3, "target": "fr"}, "^nmt: source: found 3"),
        ({"source": "en", "target": "fr", "sorce": 1}, "sorce: unknown key; did you mean `source`"),
    ],
)
def test_settings_error_names_the_key(values, message):
    with pytest.raises(UserError, match=message):
        validate_settings(Languages, values, "nmt")


@pytest.mark.parametrize("allocate", ["map_array(Path('a.npy'), int)", "bytearray(1 << 40)"])
def test_out_of_memory_is_one_line(tmp_path, allocate):
    np.lib.format.open_memmap(tmp_path / "a.npy", "w+", np.int64, (1 << 27,))  # a sparse file
    code = "from pathlib import Path; from nmt.io.npy import map_array; import nmt.cli as c\n"
    code += f"c.commands = lambda **_: {allocate}\nc.main()"
    limits = (3 << 28, 3 << 28)
    result = run_python(
        "-c", code, cwd=tmp_path, preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_AS, limits)
    )
    assert result.returncode == 2 and result.stderr.count("\n") == 1, result.stderr
    assert result.stderr.startswith("error: ")


def test_numpy_import_error_is_one_line():
    """NumPy's error begins with a page of advice."""
    message = "\nPLEASE READ THIS\n\nOriginal error was: a.so: failed to map segment"
    line = describe_error(ImportError(message))
    assert line and "\n" not in line and line.endswith("a.so: failed to map segment")


def test_faults_of_the_program_keep_their_traceback():
    assert describe_error(ValueError("a fault")) is None and describe_error(RuntimeError("a fault")) is None
    with pytest.raises(KeyError), errors_as_user_error("text.json"):
        raise KeyError("label")


def test_control_characters_are_escaped():
    message = str(UserError("a\x1b[31mb\r\x9bc\u202ed\ud800e\n\té ’"))
    assert message == "a\\x1b[31mb\\r\\x9bc\\u202ed\\ud800e\\n\té ’"


def test_each_problem_has_one_line():
    assert str(UserError("a\nb: none", "c")) == "a\\nb: none\nc"


def test_long_message_is_shortened():
    assert len(str(UserError("x" * 10**6))) < 2010


def test_missing_file_is_named():
    with pytest.raises(UserError, match="other"), errors_as_user_error("text.json"):
        open("other.json", "rb")  # noqa: SIM115
