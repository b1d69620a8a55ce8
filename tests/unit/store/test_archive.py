"""Models as archives: equal bytes for equal models, and nothing incomplete is taken for a model."""

import hashlib
import io
import json
import os
import subprocess
import tarfile
from pathlib import Path
from typing import Any

import pytest
import torch
import yaml
from hypothesis import given
from hypothesis import strategies as st

from nmt.errors import UserError
from nmt.io.compression import zstd
from nmt.io.files import sha256
from nmt.store import archive as archive_module
from nmt.store.archive import CHECKSUMS, ROUNDING_NOTE, pack_model, unpack_model
from nmt.store.model_card import CorpusInfo, write_card
from nmt.store.model_folder import (
    FINAL_STATE,
    HISTORY,
    MODEL_CARD,
    RELEASED_FILES,
    SETTINGS,
    SOURCE_VOCABULARY,
    SUMMARY,
    TARGET_VOCABULARY,
    WEIGHTS,
    list_weights_checksums,
)
from nmt.store.tensors import load_metadata, load_tensors, save_tensors
from tests.messages import refused
from tests.odd_values import altered_bytes, said

TRAINING_SUMMARY: dict[str, Any] = {
    "label": "RNNsearch-50*",
    "model_type": "rnnsearch",
    "max_words": 50,
    "continue_from": None,
    "updates": 12000,
    "epochs": 1.5,
    "hours": 3.25,
    "device": "CPU (x86_64, 1 thread)",
    "train_nll": 12.5,
    "dev_nll": 13.5,
    "train_pairs": 1000,
    "parameters": 1234567,
    "made_with": {"code": {"version": "0.1.0", "commit": "abc", "dirty": True}},
}
TRAINING_SETTINGS = {
    "training": {"batch_size": 80, "optimizer": "adadelta", "learning_rate": 1.0, "clip_norm": 1.0},
    "architecture": {"hidden_units": 1000, "embedding_size": 620},
}
SCORES: dict[str, Any] = {
    "bleu_all": 28.449,
    "bleu_no_unk": 36.15,
    "signature": "tok:none|x",
    "sentences_all": 3003,
    "sentences_no_unk": 1000,
}


@pytest.fixture
def model(tmp_path: Path) -> Path:
    """A model's folder with placeholders for weights and vocabularies."""
    folder = tmp_path / "models" / "rnnsearch-50"
    folder.mkdir(parents=True)
    (folder / WEIGHTS).write_bytes(os.urandom(100_000))
    for name in (FINAL_STATE, SOURCE_VOCABULARY, TARGET_VOCABULARY, HISTORY, "private.txt"):
        (folder / name).write_text(f"{name}\n", encoding="utf-8")
    (folder / SUMMARY).write_text(json.dumps(TRAINING_SUMMARY), encoding="utf-8")
    (folder / SETTINGS).write_text(json.dumps(TRAINING_SETTINGS), encoding="utf-8")
    write_card(folder)
    return folder


def test_pack_and_unpack(model, tmp_path):
    names = pack_model(model, tmp_path / "m.tar.zst")
    folder = unpack_model(tmp_path / "m.tar.zst", tmp_path / "theirs")
    assert folder == tmp_path / "theirs" / "rnnsearch-50"
    assert os.listdir(folder.parent) == ["rnnsearch-50"]
    assert sorted(os.listdir(folder)) == sorted(names)
    assert not {"private.txt", FINAL_STATE} & set(names)
    for name in set(names) - {CHECKSUMS}:
        assert (folder / name).read_bytes() == (model / name).read_bytes(), name


def test_tar_and_sha256sum(model, tmp_path):
    archive = tmp_path / "m.tar.zst"
    pack_model(model, archive, with_final_state=True)
    tar_bytes = zstd.decompress(archive.read_bytes())
    subprocess.run(["tar", "-xf", "-", "-C", tmp_path], input=tar_bytes, check=True)
    command = ["sha256sum", "-c", CHECKSUMS]
    result = subprocess.run(command, cwd=tmp_path / "rnnsearch-50", capture_output=True, text=True)
    assert result.returncode == 0 and f"{FINAL_STATE}: OK" in result.stdout


def test_16_bits(model, tmp_path):
    weights = {"W": torch.randn(100, 100), "b": torch.tensor([1e-9, 65504.0])}
    save_tensors(model / WEIGHTS, weights, {"vocabularies": '{"source": "abc"}'})
    original = sha256(model / WEIGHTS)
    (model / SUMMARY).write_text(json.dumps({**TRAINING_SUMMARY, "weights": original}), encoding="utf-8")
    pack_model(model, tmp_path / "rounded.tar.zst", bits=16)
    folder = unpack_model(tmp_path / "rounded.tar.zst", tmp_path)
    for name, weight in load_tensors(folder / WEIGHTS).items():
        assert torch.equal(weight, weights[name].half())
    assert load_metadata(folder / WEIGHTS)["vocabularies"] == '{"source": "abc"}'
    rounded = sha256(folder / WEIGHTS)
    assert json.loads((folder / SUMMARY).read_text())["weights"] == rounded
    assert list_weights_checksums(folder) == {rounded, original}
    card = (model / MODEL_CARD).read_text()
    assert (folder / MODEL_CARD).read_text() == f"{card}\n{ROUNDING_NOTE}\n"

    save_tensors(model / WEIGHTS, {"W": torch.tensor([1e5])})
    with refused():
        pack_model(model, tmp_path / "large.tar.zst", bits=16)


def test_archive_is_reproducible(model, tmp_path):
    pack_model(model, tmp_path / "1.tar.zst")
    for path in model.iterdir():
        os.utime(path, (1, 1))
        path.chmod(0o600)
    pack_model(model, tmp_path / "2.tar.zst")
    assert (tmp_path / "1.tar.zst").read_bytes() == (tmp_path / "2.tar.zst").read_bytes()


def write_archive(path: Path, files: dict[str, bytes], *entries: tarfile.TarInfo) -> Path:
    """Write an archive as somebody might who means harm."""
    tar_bytes = io.BytesIO()
    with tarfile.open(fileobj=tar_bytes, mode="w") as tar:
        for name, data in files.items():
            tar.addfile(make_entry(name, size=len(data)), io.BytesIO(data))
        for entry in entries:
            tar.addfile(entry)
    path.write_bytes(zstd.compress(tar_bytes.getvalue()))
    return path


def make_entry(name: str, **values: Any) -> tarfile.TarInfo:
    entry = tarfile.TarInfo(name)
    for key, value in values.items():
        setattr(entry, key, value)
    return entry


def checksum_lines(files: dict[str, bytes]) -> bytes:
    """Return SHA256SUMS of an archive, so that nothing else is wrong with it than what is meant."""
    lines = [f"{hashlib.sha256(data).hexdigest()}  {name}\n" for name, data in files.items()]
    return "".join(lines).encode()


ZEROS = bytes(1 << 22)
RIGHT = checksum_lines({"a": b"right"})
MALICIOUS_ARCHIVES: dict[str, tuple[dict[str, bytes], list[tarfile.TarInfo]]] = {
    "link": (
        {"m/a": b"right", "m/SHA256SUMS": checksum_lines({"a": b"right", "b": b"right"})},
        [make_entry("m/b", type=tarfile.SYMTYPE, linkname="a")],
    ),
    "null byte": ({}, [make_entry("m/a", pax_headers={"path": "m/a\0b"})]),
    "sparse file": (
        {"m/SHA256SUMS": checksum_lines({"a": b""})},
        [make_entry("m/a", type=tarfile.GNUTYPE_SPARSE)],
    ),
    "large weights": ({"m/a": ZEROS, "m/SHA256SUMS": checksum_lines({"a": ZEROS})}, []),
    "large header": (
        {"m/SHA256SUMS": checksum_lines({"a": b""})},
        [make_entry("m/a", pax_headers={"comment": "x" * (1 << 22)})],
    ),
    "altered": ({"m/a": b"wrong", "m/SHA256SUMS": RIGHT}, []),
    "missing": ({"m/SHA256SUMS": RIGHT}, []),
    "added": ({"m/a": b"right", "m/b": b"", "m/SHA256SUMS": RIGHT}, []),
    "no checksums": ({"m/a": b"right"}, []),
    "two folders": ({"m/SHA256SUMS": b"", "n/SHA256SUMS": b""}, []),
}
for _path in ("../evil", "/evil", "a/../../evil", "a/b/c", "..", "plain"):
    MALICIOUS_ARCHIVES[f"path {_path}"] = ({_path: b"x"}, [])
for _folder in ("-rf", ".hidden", "m\x1b[2J", "m\nn"):
    MALICIOUS_ARCHIVES[f"folder {_folder!r}"] = ({f"{_folder}/SHA256SUMS": b""}, [])


@pytest.mark.parametrize("name", MALICIOUS_ARCHIVES)
def test_malicious_archives(tmp_path, monkeypatch, name):
    """Nothing of them is written."""
    monkeypatch.setattr(archive_module, "MIN_UNPACKED_BYTES", 1 << 20)
    files, entries = MALICIOUS_ARCHIVES[name]
    archive, output = write_archive(tmp_path / "a.tar.zst", files, *entries), tmp_path / "deep" / "out"
    with pytest.raises(UserError) as error:
        unpack_model(archive, output)
    assert str(error.value).startswith(str(tmp_path)) and "\n" not in str(error.value)
    assert not list(tmp_path.rglob("evil")) and not list(output.iterdir())


def test_refused_archives_and_folders(model, tmp_path):
    archive, truncated_archive = tmp_path / "m.tar.zst", tmp_path / "truncated.tar.zst"
    pack_model(model, archive)
    truncated_archive.write_bytes(archive.read_bytes()[: archive.stat().st_size // 2])
    unpack_model(archive, tmp_path / "out")
    for path in (archive, truncated_archive):  # the first is already there
        with refused():
            unpack_model(path, tmp_path / "out")

    hidden_folder = model.rename(model.with_name(".mine"))
    with refused():
        pack_model(hidden_folder, tmp_path / "hidden.tar.zst")
    hidden_folder.rename(model)
    (model / SOURCE_VOCABULARY).unlink()
    for name in ("new.tar.zst", "m.zip"):
        with refused():
            pack_model(model, tmp_path / name)
        assert not (tmp_path / name).exists()


def test_card_with_scores(model):
    corpora = CorpusInfo(("en", "fr"), ("europarl-v7",), ("newstest2013",), ("newstest2014",))
    write_card(model, corpora, SCORES)
    card = (model / MODEL_CARD).read_text(encoding="utf-8")
    front_matter = yaml.safe_load(card.split("---\n")[1])
    assert front_matter["language"] == ["en", "fr"] and "license" not in front_matter
    assert "nmt 0.1.0+abc.dirty" in card and "1,234,567 parameters" in card
    assert "| All 3,003 sentences | 28.45 |" in card and "BLEU on newstest2014" in card
    assert "from en to fr" in card


@pytest.fixture(scope="module")
def tar_bytes(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    """The tar archive of a model, without compression."""
    folder = tmp_path_factory.mktemp("packed") / "m"
    folder.mkdir()
    for name in RELEASED_FILES:
        (folder / name).write_text(f"{name}\n", encoding="utf-8")
    archive = folder.with_name("m.tar.zst")
    pack_model(folder, archive)
    return zstd.decompress(archive.read_bytes())


@pytest.mark.fuzz
@given(data=st.data(), inside=st.booleans())
def test_damaged_archive(tmp_path_factory, tar_bytes, data, inside):
    """It is unpacked to a model, or refused in one line."""
    folder = tmp_path_factory.mktemp("damaged")
    if inside:
        damaged_bytes = zstd.compress(data.draw(altered_bytes(tar_bytes)))
    else:
        damaged_bytes = data.draw(altered_bytes(zstd.compress(tar_bytes)))
    (folder / "a.tar.zst").write_bytes(damaged_bytes)
    output = folder / "out"
    if said("unpack", folder / "a.tar.zst", "--output", output):
        assert not output.exists() or not os.listdir(output)
    else:
        assert os.listdir(output) == ["m"]
