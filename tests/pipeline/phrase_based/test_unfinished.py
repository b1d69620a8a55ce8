"""Folders of unfinished work."""

from __future__ import annotations

import threading
from pathlib import Path

import pytest

from pipeline.phrase_based.unfinished import held


@pytest.fixture
def text(tmp_path: Path) -> Path:
    (tmp_path / "text").write_text("a b\n")
    return tmp_path / "text"


def stopped(work: Path, text: Path, *settings: object) -> list[str]:
    """Begin or go on, and be stopped; returns what was found there."""
    found: list[str] = []
    with pytest.raises(KeyboardInterrupt), held(work, settings, [text]):
        found = sorted(path.name for path in work.iterdir() if path.name not in ("lock", "begun_with"))
        (work / "step.done").touch()
        (work / "tables").mkdir(exist_ok=True)
        raise KeyboardInterrupt
    return found


def test_what_was_begun_is_gone_on_with(tmp_path: Path, text: Path) -> None:
    assert [stopped(tmp_path / "work", text, 5), stopped(tmp_path / "work", text, 5)] == [
        [],
        ["step.done", "tables"],
    ]


def test_what_other_settings_or_files_left_is_not(tmp_path: Path, text: Path) -> None:
    stopped(tmp_path / "work", text, 5)
    assert stopped(tmp_path / "work", text, 7) == []
    text.write_text("c d e\n")
    assert stopped(tmp_path / "work", text, 7) == []


def test_the_folder_goes_with_the_work(tmp_path: Path, text: Path) -> None:
    stopped(tmp_path / "work", text)
    with held(tmp_path / "work", (), [text]):
        pass
    assert not (tmp_path / "work").exists()


def test_who_waited_for_the_work_finds_a_folder_of_its_own(tmp_path: Path, text: Path) -> None:
    """The one before has removed the folder, and the lock in it."""
    work, done = tmp_path / "work", threading.Event()

    def second() -> None:
        with held(work, (), [text]):
            (work / "second").touch()
        done.set()

    with held(work, (), [text]):
        waiting = threading.Thread(target=second, daemon=True)
        waiting.start()
        waiting.join(0.5)
        assert not (work / "second").exists()
    assert done.wait(10) and not work.exists()
