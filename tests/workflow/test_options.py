"""Pieces of shell lines from the settings: quoted, in the order of the settings, nothing for what is not known."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import pytest

from tests.experiments import paper
from workflow import options


def test_values_are_quoted() -> None:
    assert shlex.split(options.option("file", "a b", 3)) == ["--file", "a b", "3"]
    assert options.repeated("mirror", []) == ""
    assert options.known([("md5", None), ("pairs", 5)]) == "--pairs 5"


@pytest.mark.parametrize(("corpora", "taken"), [(["a"], {"a"}), (["a", "a.b"], {"a", "a.b"}), ([], set())])
def test_a_wildcard_takes_some_corpora(corpora: list[str], taken: set[str]) -> None:
    for name in ("a", "a.b", "axb", "ab"):
        assert bool(re.fullmatch(options.any_of(corpora), name)) == (name in taken)


def test_an_archive_is_described_as_far_as_it_is_known(tmp_path: Path) -> None:
    config = paper(tmp_path, mirrors=["file:///here"])
    for archive in config.archives.values():
        words = shlex.split(options.archive(config, archive.path))
        assert words[words.index("--url") + 1] == archive.url
        assert ("--md5" in words) == (archive.md5 is not None)
        others = shlex.split(options.other_sources(config, archive.path))
        assert others.count("--alternative") == len(archive.alternatives)
        assert others[:2] == ["--mirror", "file:///here"]


def test_corpora_stand_in_their_order_with_their_shards(tmp_path: Path) -> None:
    config = paper(tmp_path, corpora={"europarl-v7": {"shards": 2}})
    names = ["newstest2012", "europarl-v7"]
    assert options.shards(config, names) == "--corpus newstest2012 1 --corpus europarl-v7 2"
    assert options.patterns("text", ["{shard}.en", "{shard}.fr"]) == "--text '{shard}.en' '{shard}.fr'"
