"""Patterns stand for the files of all shards, in the order of the corpora; without corpora they are files."""

from __future__ import annotations

from pathlib import Path

from nmt.cli.options import shard_files


def test_every_shard_has_its_files() -> None:
    found = shard_files((("b", 2), ("a", 1)), "t/{shard}.en", "t/{shard}.fr")
    assert found == [
        ("b", [Path("t/b/0.en"), Path("t/b/0.fr")]),
        ("b", [Path("t/b/1.en"), Path("t/b/1.fr")]),
        ("a", [Path("t/a/0.en"), Path("t/a/0.fr")]),
    ]


def test_without_corpora_patterns_are_files() -> None:
    assert shard_files((), "a {shard}", "b") == [("", [Path("a {shard}"), Path("b")])]
