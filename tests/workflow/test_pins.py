"""`make pins`: what it writes, and that what cannot be reached stays as it was."""

from __future__ import annotations

import subprocess
from pathlib import Path
from types import SimpleNamespace

import pytest
import requests

from workflow import pins

HASHES = {"old": "a" * 64, "new": "b" * 64}


def answer(text: str, **headers: str) -> SimpleNamespace:
    return SimpleNamespace(
        text=text, headers=headers, raise_for_status=lambda: None, json=lambda: {"token": "t"}
    )


def test_an_actions_newest_version_is_pinned_by_its_commit(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    listing = "".join(
        f"{digit * 40}\trefs/tags/{tag}\n"
        for digit, tag in [
            ("1", "v9.0.0"),
            ("2", "v10.0.0"),
            ("3", "v10.0.0^{}"),
            ("4", "v10"),
            ("5", "v11.0.0-b1"),
        ]
    )
    monkeypatch.setattr(subprocess, "run", lambda *_, **__: SimpleNamespace(stdout=listing))
    workflow = tmp_path / "ci.yml"
    workflow.write_text("      - uses: a/b@v4\n      - uses: a/b@0123 # v1.0.0\n        with:\n")
    pins.renew_actions([workflow])
    line = f"      - uses: a/b@{'3' * 40} # v10.0.0\n"
    assert workflow.read_text() == line + line + "        with:\n"


def test_both_recipes_get_the_tags_digest(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    docker, apptainer = tmp_path / "Dockerfile", tmp_path / "nmt.def"
    docker.write_text(f"FROM python:3.11-slim@sha256:{HASHES['old']}\n")
    apptainer.write_text(f"From: python@sha256:{HASHES['old']}\n")
    asked: list[str] = []
    monkeypatch.setattr(requests, "get", lambda *_, **__: answer(""))
    digest = {"Docker-Content-Digest": f"sha256:{HASHES['new']}"}
    monkeypatch.setattr(requests, "head", lambda url, **_: asked.append(url) or answer("", **digest))
    pins.renew_image(docker, apptainer)
    assert asked[0].endswith("/library/python/manifests/3.11-slim")
    assert docker.read_text() == f"FROM python:3.11-slim@sha256:{HASHES['new']}\n"
    assert apptainer.read_text() == f"From: python@sha256:{HASHES['new']}\n"


def test_what_cannot_be_reached_is_said_in_a_line_each(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def fail(*_: object, **__: object) -> None:
        raise subprocess.CalledProcessError(128, ["git"], stderr="warning: x\nfatal: no route\n")

    for step in ("renew_lock", "renew_actions"):
        monkeypatch.setattr(pins, step, fail)
    monkeypatch.setattr(pins, "renew_image", lambda *_: None)
    assert pins.main([]) == 1
    said = capsys.readouterr()
    assert said.err.count("not renewed: fatal: no route\n") == said.err.count("\n") == 2
    assert said.out == "base image: renewed\n"
