"""Each reader of a format refuses what it does not read in one line that names the file, whatever is wrong with it."""

from __future__ import annotations

import gzip
import os
import resource
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from nmt.cli import describe_error
from nmt.cli.options import parse_settings
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
from nmt.store.release import unpack_model
from nmt.store.tensors import load_tensors
from nmt.training.history import read_history
from tests.running import ROOT


def stream_of(path: Path) -> None:
    with open_lines(path) as lines:
        lines.take_lines(10_000)


def bitext(path: Path) -> None:
    """The file is the description of a bitext."""
    folder = path.with_name("bitext")
    folder.mkdir()
    for side in ("source", "target"):
        np.save(folder / f"{side}.ids.npy", np.array([2, 3], np.uint16))
        np.save(folder / f"{side}.offsets.npy", np.array([0, 2], np.int64))
    os.rename(path, folder / "meta.json")
    Bitext.open(folder)


ROW = '{"line": 0, "source": "a", "text": "b"'
META = '{"pairs": 1, "source_words": 2, "target_words": %s, "shuffled_seed": null, "sha256": "a"'
META += ', "source_vocabulary_sha256": "b", "target_vocabulary_sha256": "c"'
PANELS = "\t".join(COLUMNS)
SGML = "<doc docid='a'><seg id='1'>a"
READERS: dict[str, tuple[Callable[[Path], Any], list[str]]] = {
    "lines": (
        lambda path: list(read_lines(path)),
        [SGML, f"{SGML}</seg></seg>", "PK\x03\x04", "x" * ((1 << 24) + 1)],
    ),
    "stream": (stream_of, [SGML, "PK\x03\x04"]),
    "JSON": (read_json, ["", '{\n"a": }', "[" * 100_000]),
    "settings": (
        lambda path: read_settings(Languages, path, "write it again"),
        ["", "[]", '{"source": "en"}', '{"source": "EN", "target": 3}'],
    ),
    "bitext": (bitext, ["", "[]", "{}", META % '"2"' + "}", META % 9 + "}"]),
    "vocabulary": (
        Vocabulary.read,
        [
            "word\n",
            *(
                f"rank\tword\tcount\n{rows}"
                for rows in ("1\ta\t3\n3\tb\t2\n", "1\ta\n", f"1\ta\t{'9' * 5000}\n")
            ),
        ],
    ),
    "translations": (
        lambda path: list(read_translations(path)),
        ["{", "[]", ROW[:-5] + "}", ROW.replace("0", '"0"') + "}", ROW.replace("0", "-1") + "}"],
    ),
    "alignments": (
        lambda path: list(read_translations(path)),
        [
            f'{ROW.replace("text", "target")}, "alignment": {matrix}}}'
            for matrix in ('[["x"]]', "[[1, 0, 0]]", "[[1], [1], [1]]", "[[1], [1, 0]]")
        ],
    ),
    "panels": (read_projections, ["", PANELS, f"{PANELS}\n1\t2\t3", f"{PANELS}\n1\tnan\t0\t0\t0\ta"]),
    "gold": (
        lambda path: read_gold_alignments(path, 1),
        ["x\n", "0-0\n0-0\n", "1 0 1 S\n", "1 1 1 S\n3 1 1 S\n", "1 1 1 S\n1 1\n", "1 0-0\n1 x\n"],
    ),
    "history": (lambda path: list(read_history(path)), ["{", "[]"]),
    "array": (lambda path: map_array(path, np.int64), ["", "no array"]),
    "tensors": (load_tensors, ["", "no tensors"]),
    "archive": (lambda path: unpack_model(path, path.parent / "out"), ["", "no archive"]),
}
"""Readers, each with texts that are not of its format."""


def refused(reader: Callable[[Path], Any], path: Path) -> None:
    with pytest.raises(UserError) as error:
        reader(path)
    message = str(error.value)
    assert message.startswith(str(path.parent)) and "\n" not in message and len(message) < 500


@pytest.mark.parametrize("name", READERS)
def test_what_is_not_of_its_format_is_one_line(tmp_path: Path, name: str) -> None:
    reader, texts = READERS[name]
    for number, text in enumerate(texts):
        path = tmp_path / str(number) / "file"
        path.parent.mkdir()
        path.write_text(text, encoding="utf-8")
        refused(reader, path)


@pytest.mark.parametrize("name", sorted(READERS.keys() - {"bitext"}))
def test_a_file_that_is_missing_a_folder_or_of_other_bytes_is_one_line(tmp_path: Path, name: str) -> None:
    reader, _ = READERS[name]
    (tmp_path / "bytes").write_bytes(b"\xff\xfe\x00" * 100)
    (tmp_path / "cut").write_bytes(gzip.compress(os.urandom(9000))[:-5])
    for path in (
        tmp_path / "none",
        tmp_path,
        *((tmp_path / "bytes", tmp_path / "cut") if name != "stream" else ()),
    ):
        refused(reader, path)


@pytest.mark.parametrize("reader", [read_file, sha256, load_tensors, map_array])
def test_what_may_never_end_is_no_file(tmp_path: Path, reader: Callable[[Path], Any]) -> None:
    pipe, zeros = tmp_path / "pipe", tmp_path / "zeros"
    os.mkfifo(pipe)
    zeros.symlink_to("/dev/zero")
    for path in (pipe, zeros):
        refused(reader, path)


def test_settings_name_the_key_and_suggest_another() -> None:
    for value, key in (
        ({"sorce": "en"}, "source: missing"),
        ({"source": 3, "target": "fr"}, "source: found 3"),
    ):
        with pytest.raises(UserError, match=f"^nmt: {key}"):
            validate_settings(Languages, value, "nmt")
    with pytest.raises(UserError, match="sorce: unknown key; did you mean `source`"):
        validate_settings(Languages, {"source": "en", "target": "fr", "sorce": 1}, "nmt")
    with pytest.raises(UserError, match=r"^x\.json: no such file"):
        parse_settings(Languages, "x.json")


@pytest.mark.parametrize("allocate", ["map_array(Path('a.npy'), int)", "bytearray(1 << 40)"])
def test_memory_that_is_refused_is_one_line(tmp_path: Path, allocate: str) -> None:
    np.lib.format.open_memmap(tmp_path / "a.npy", "w+", np.int64, (1 << 27,))  # a sparse file
    code = "from pathlib import Path; from nmt.io.npy import map_array; import nmt.cli as c\n"
    code += f"c.commands = lambda **_: {allocate}\nc.main()"
    found = subprocess.run(
        [sys.executable, "-c", code],
        cwd=tmp_path,
        env=os.environ | {"PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_AS, (3 << 28, 3 << 28)),
    )
    assert found.returncode == 2 and found.stderr.count("\n") == 1, found.stderr
    assert found.stderr.startswith("nmt: error: ")


def test_a_library_that_memory_has_no_room_for_is_one_line() -> None:
    """NumPy's error begins with a page of advice."""
    line = describe_error(
        ImportError("\nPLEASE READ THIS\n\nOriginal error was: a.so: failed to map segment")
    )
    assert line and "\n" not in line and line.endswith("a.so: failed to map segment")


def test_faults_of_the_program_keep_their_traceback() -> None:
    assert describe_error(ValueError("a fault")) is None and describe_error(RuntimeError("a fault")) is None


def test_nothing_that_a_terminal_acts_on_is_in_a_message() -> None:
    assert str(UserError("a\x1b[31mb\r\x9bc\u202ed\ud800e\n\té ’")) == (
        "a\\x1b[31mb\\r\\x9bc\\u202ed\\ud800e\\n\té ’"
    )


def test_each_problem_has_a_line_and_no_path_makes_two() -> None:
    assert str(UserError("a\nb: none", "c")) == "a\\nb: none\nc"


def test_a_message_is_short_whatever_it_names() -> None:
    assert len(str(UserError("x" * 10**6))) < 2010


def test_a_fault_of_the_program_is_not_told_as_one_of_the_file() -> None:
    with pytest.raises(KeyError), errors_as_user_error("text.json"):
        raise KeyError("label")
    with pytest.raises(UserError, match="other"), errors_as_user_error("text.json"):
        open("other.json", "rb")  # noqa: SIM115
