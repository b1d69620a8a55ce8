"""Models as archives: the same bytes for the same model, and nothing taken for whole that is not."""

from __future__ import annotations

import hashlib
import io
import json
import os
import subprocess
import sys
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
from nmt.store import release
from nmt.store.model_folder import RELEASED_FILES, SUMMARY, WEIGHTS, list_weights_checksums
from nmt.store.tensors import load_metadata, load_tensors, save_tensors
from tests.messages import refused
from tests.odd_values import altered_bytes, said

TRAINED: dict[str, Any] = {
    "model": "rnnsearch-50",
    "label": "RNNsearch-50*",
    "model_type": "rnnsearch",
    "seed": 1,
    "max_words": 50,
    "continue_from": None,
    "updates": 12000,
    "epochs": 1.5,
    "hours": 3.25,
    "device": "CPU (x86_64, 1 thread)",
    "stopped_by": "updates",
    "train_nll": 12.5,
    "dev_nll": 13.5,
    "train_pairs": 1000,
    "parameters": 1234567,
    "torch": "2.13.0",
    "made_with": {"code": {"version": "0.1.0", "commit": "abc", "dirty": True}},
}
SETTINGS = {
    "training": {
        "batch_size": 80,
        "keep": "best",
        "optimizer": "adadelta",
        "learning_rate": 1.0,
        "clip_norm": 1.0,
    },
    "architecture": {"hidden_units": 1000, "embedding_size": 620},
}
SCORES: dict[str, Any] = {
    "model": "rnnsearch-50",
    "seed": 1,
    "bleu_all": 28.449,
    "bleu_no_unk": 36.15,
    "signature": "tok:none|x",
    "sentences_all": 3003,
    "sentences_no_unk": 1000,
}


@pytest.fixture
def model(tmp_path: Path) -> Path:
    """A model's folder with stand-ins for weights and vocabularies."""
    folder = tmp_path / "models" / "rnnsearch-50"
    folder.mkdir(parents=True)
    (folder / "model.safetensors").write_bytes(os.urandom(100_000))
    (folder / "final_state.safetensors").write_bytes(b"large")
    for name in ("source.tsv", "target.tsv", "history.jsonl"):
        (folder / name).write_text(f"{name}\n", encoding="utf-8")
    (folder / "summary.json").write_text(json.dumps(TRAINED), encoding="utf-8")
    (folder / "settings.json").write_text(json.dumps(SETTINGS), encoding="utf-8")
    (folder / "private.txt").write_text("not for others\n", encoding="utf-8")
    release.write_card(folder)
    return folder


def test_unpacking_gives_what_was_packed_and_nothing_private(model: Path, tmp_path: Path) -> None:
    archive = tmp_path / "m.tar.zst"
    names = release.pack_model(model, archive)
    folder = release.unpack_model(archive, tmp_path / "theirs")
    assert folder == tmp_path / "theirs" / "rnnsearch-50"
    assert sorted(path.name for path in folder.iterdir()) == sorted(names)
    assert not {"private.txt", "final_state.safetensors"} & set(names)
    for name in set(names) - {release.CHECKSUMS}:
        assert (folder / name).read_bytes() == (model / name).read_bytes(), name
    assert [path.name for path in (tmp_path / "theirs").iterdir()] == ["rnnsearch-50"]


def test_plain_tools_unpack_and_check_it(model: Path, tmp_path: Path) -> None:
    archive = tmp_path / "m.tar.zst"
    release.pack_model(model, archive, with_final_state=True)
    plain = zstd.decompress(archive.read_bytes())
    subprocess.run(["tar", "-xf", "-", "-C", tmp_path], input=plain, check=True)
    checked = subprocess.run(
        ["sha256sum", "-c", release.CHECKSUMS], cwd=tmp_path / "rnnsearch-50", capture_output=True, text=True
    )
    assert checked.returncode == 0 and "final_state.safetensors: OK" in checked.stdout


def test_a_model_of_16_bits_is_half_as_large_and_its_card_says_so(model: Path, tmp_path: Path) -> None:
    weights = {"W": torch.randn(100, 100), "b": torch.tensor([1e-9, 65504.0])}
    save_tensors(model / WEIGHTS, weights, {"vocabularies": '{"source": "abc"}'})
    original = release.sha256(model / WEIGHTS)
    (model / SUMMARY).write_text(json.dumps({**TRAINED, "weights": original}), encoding="utf-8")
    release.pack_model(model, tmp_path / "whole.tar.zst")
    release.pack_model(model, tmp_path / "half.tar.zst", bits=16)
    assert 2 * (tmp_path / "half.tar.zst").stat().st_size < 1.1 * (tmp_path / "whole.tar.zst").stat().st_size
    folder = release.unpack_model(tmp_path / "half.tar.zst", tmp_path)
    for name, weight in load_tensors(folder / WEIGHTS).items():
        assert torch.equal(weight, weights[name].half())
    assert load_metadata(folder / WEIGHTS)["vocabularies"] == '{"source": "abc"}'
    rounded = release.sha256(folder / WEIGHTS)
    assert json.loads((folder / SUMMARY).read_text())["weights"] == rounded
    assert list_weights_checksums(folder) == {rounded, original}
    before, card = ((place / "README.md").read_text() for place in (model, folder))
    assert card == f"{before}\n{release.ROUNDED}\n"
    save_tensors(model / WEIGHTS, {"W": torch.tensor([1e5])})
    with refused():
        release.pack_model(model, tmp_path / "large.tar.zst", bits=16)
    (model / WEIGHTS).write_bytes(b"no tensors")
    with refused():
        release.pack_model(model, tmp_path / "damaged.tar.zst", bits=16)


def test_equal_models_give_equal_bytes(model: Path, tmp_path: Path) -> None:
    release.pack_model(model, tmp_path / "one.tar.zst")
    for path in model.iterdir():
        os.utime(path, (1, 1))
        path.chmod(0o600)
    release.pack_model(model, tmp_path / "two.tar.zst")
    assert (tmp_path / "one.tar.zst").read_bytes() == (tmp_path / "two.tar.zst").read_bytes()


def packed(path: Path, entries: dict[str, bytes], *extra: tarfile.TarInfo) -> Path:
    """An archive as somebody might make it who means harm."""
    plain = io.BytesIO()
    with tarfile.open(fileobj=plain, mode="w") as tar:
        for name, data in entries.items():
            entry = tarfile.TarInfo(name)
            entry.size = len(data)
            tar.addfile(entry, io.BytesIO(data))
        for entry in extra:
            tar.addfile(entry)
    path.write_bytes(zstd.compress(plain.getvalue()))
    return path


def entry(name: str, **values: Any) -> tarfile.TarInfo:
    made = tarfile.TarInfo(name)
    for key, value in values.items():
        setattr(made, key, value)
    return made


def sums(files: dict[str, bytes]) -> bytes:
    """SHA256SUMS of an archive, so that nothing else than what is meant is wrong with it."""
    return "".join(f"{hashlib.sha256(data).hexdigest()}  {name}\n" for name, data in files.items()).encode()


LARGE = bytes(1 << 22)
SUMS = f"{hashlib.sha256(b'right').hexdigest()}  a\n".encode()
EVIL: dict[str, tuple[dict[str, bytes], list[tarfile.TarInfo]]] = {
    **{
        f"path {name}": ({name: b"x"}, [])
        for name in ("../evil", "/evil", "a/../../evil", "a/b/c", "..", "plain")
    },
    **{f"folder {top!r}": ({f"{top}/SHA256SUMS": b""}, []) for top in ("-rf", ".hidden", "m\x1b[2J", "m\nn")},
    "link": (
        {"m/a": b"right", "m/SHA256SUMS": sums({"a": b"right", "b": b"right"})},
        [entry("m/b", type=tarfile.SYMTYPE, linkname="a")],
    ),
    "null byte": ({}, [entry("m/a", pax_headers={"path": "m/a\0b"})]),
    "sparse file": ({}, [entry("m/a", pax_headers={"GNU.sparse.size": "x", "GNU.sparse.map": "0,1"})]),
    "large weights": ({"m/a": LARGE, "m/SHA256SUMS": sums({"a": LARGE})}, []),
    "large header": (
        {"m/SHA256SUMS": sums({"a": b""})},
        [entry("m/a", pax_headers={"comment": "x" * (1 << 22)})],
    ),
    "altered": ({"m/a": b"wrong", "m/SHA256SUMS": SUMS}, []),
    "missing": ({"m/SHA256SUMS": SUMS}, []),
    "added": ({"m/a": b"right", "m/b": b"", "m/SHA256SUMS": SUMS}, []),
    "no checksums": ({"m/a": b"right"}, []),
    "two folders": ({"m/a": b"", "n/a": b""}, []),
}


@pytest.mark.parametrize("name", EVIL)
def test_nothing_of_an_evil_or_damaged_archive_is_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    monkeypatch.setattr(release, "_ALWAYS", 1 << 20)
    entries, more = EVIL[name]
    archive = packed(tmp_path / "a.tar.zst", entries, *more)
    with pytest.raises(UserError) as error:
        release.unpack_model(archive, tmp_path / "deep" / "out")
    assert str(error.value).startswith(str(tmp_path)) and "\n" not in str(error.value)
    assert not list(tmp_path.rglob("evil")) and not list((tmp_path / "deep" / "out").iterdir())


def test_what_is_cut_or_already_there_or_unfinished_is_refused(model: Path, tmp_path: Path) -> None:
    archive = tmp_path / "m.tar.zst"
    release.pack_model(model, archive)
    (tmp_path / "cut.tar.zst").write_bytes(archive.read_bytes()[: archive.stat().st_size // 2])
    release.unpack_model(archive, tmp_path / "out")
    for name in ("cut.tar.zst", "m.tar.zst"):
        with pytest.raises(UserError):
            release.unpack_model(tmp_path / name, tmp_path / "out")
    hidden = model.rename(model.with_name(".mine"))
    with refused():
        release.pack_model(hidden, tmp_path / "hidden.tar.zst")
    model = hidden.rename(model)
    (model / "source.tsv").unlink()
    for name in ("new.tar.zst", "m.zip"):
        with pytest.raises(UserError):
            release.pack_model(model, tmp_path / name)
        assert not (tmp_path / name).exists()


def test_the_folder_that_a_killed_call_left_goes_with_the_next(model: Path, tmp_path: Path) -> None:
    archive = tmp_path / "m.tar.zst"
    release.pack_model(model, archive)
    code = (
        "import os, sys; from pathlib import Path; from nmt.store import release as a\n"
        "a._check_sums = lambda *_: os.kill(os.getpid(), 9)\n"
        "a.unpack_model(Path(sys.argv[1]), Path(sys.argv[2]))"
    )
    out = tmp_path / "out"
    killed = subprocess.run([sys.executable, "-c", code, archive, out], check=False)
    assert killed.returncode == -9 and list(out.iterdir())
    assert release.unpack_model(archive, out) == out / "rnnsearch-50"
    assert [path.name for path in out.iterdir()] == ["rnnsearch-50"]


def test_a_card_with_scores_shows_them_and_keeps_the_table_whole(model: Path) -> None:
    text = release.CorpusInfo(("en", "fr"), ("europarl-v7",), ("newstest2013",), ("newstest2014",))
    release.write_card(model, text, SCORES)
    card = (model / "README.md").read_text(encoding="utf-8")
    front = yaml.safe_load(card.split("---\n")[1])
    assert "nmt 0.1.0, commit abc, with changes" in card and "1,234,567 parameters" in card
    assert front["language"] == ["en", "fr"] and "license" not in front
    assert "| All 3,003 sentences | 28.45 |" in card and "BLEU on newstest2014" in card
    assert "from en to fr" in card


@pytest.fixture(scope="module")
def archive(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    """A plain tar archive of a model."""
    folder = tmp_path_factory.mktemp("packed") / "m"
    folder.mkdir()
    for name in RELEASED_FILES:
        (folder / name).write_text(f"{name}\n", encoding="utf-8")
    release.pack_model(folder, folder.parent / "m.tar.zst")
    packed = (folder.parent / "m.tar.zst").read_bytes()
    return zstd.decompress(packed)


@pytest.mark.fuzz
@given(data=st.data(), inside=st.booleans())
def test_whatever_happens_to_a_model_archive_is_a_model_or_one_line(
    tmp_path_factory: pytest.TempPathFactory, archive: bytes, data: st.DataObject, inside: bool
) -> None:
    folder = tmp_path_factory.mktemp("damaged")
    if inside:
        damaged = zstd.compress(data.draw(altered_bytes(archive)))
    else:
        damaged = data.draw(altered_bytes(zstd.compress(archive)))
    (folder / "a.tar.zst").write_bytes(damaged)
    out = folder / "out"
    if said("unpack", folder / "a.tar.zst", "--output", out):
        assert not out.exists() or not [*out.iterdir()]
    else:
        assert [path.name for path in out.iterdir()] == ["m"]
