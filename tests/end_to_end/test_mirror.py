"""Real text from a mirror over HTTP: Multi30k's files and news-test-2014, up to what training reads."""

from __future__ import annotations

import functools
import http.server
import json
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from nmt.data.bitext import Bitext
from nmt.io.text_files import read_pairs
from tests.running import MIRROR, NO_MIRROR, ROOT, snakemake

pytestmark = pytest.mark.skipif(not MIRROR.is_dir(), reason=NO_MIRROR)


class Quiet(http.server.SimpleHTTPRequestHandler):
    """A file server that prints nothing."""

    def log_message(self, format: str, *arguments: object) -> None:
        """Say nothing."""


@pytest.fixture(scope="module")
def address() -> Iterator[str]:
    """The mirror, served on the loopback interface."""
    handler = functools.partial(Quiet, directory=str(MIRROR))
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()


def test_multi30k_is_fetched_checked_and_binarized(address: str, tmp_path: Path) -> None:
    overlay = (ROOT / "experiments" / "multi30k" / "config.yaml").read_text(encoding="utf-8")
    (tmp_path / "config.yaml").write_text(overlay, encoding="utf-8")
    result = snakemake(tmp_path, "--cores", "2", "--config", f"mirrors=['{address}']", "--", "data")
    assert result.returncode == 0, result.stdout
    train, dev = (Bitext.open(tmp_path / "data" / "binary" / part) for part in ("train", "dev"))
    assert (len(train), len(dev)) == (29_000, 1_014)
    test = tmp_path / "data" / "tokens" / "multi30k-test-2016-flickr"
    assert sum(1 for _ in read_pairs(test / "0.en.zst", test / "0.fr.zst")) == 1_000


def without_sums(address: str, archive: str, folder: Path) -> list[str]:
    """Options that take an archive from the mirror, whose bytes are not the official ones.

    Nor are those of its newstest2014, but those of its newstest2013 are, and the numbers of pairs.
    """
    archives = {archive: {"md5": None, "sha256": None, "bytes": None}}
    corpora = {"newstest2014": {"source": {"md5": None}, "target": {"md5": None}}}
    options = json.dumps({"archives": archives, "corpora": corpora, "mirrors": [address]})
    (folder / "sums.yaml").write_text(options, encoding="utf-8")
    return ["--cores", "2", "--configfile", str(folder / "sums.yaml")]


def test_news_test_2014_has_3003_sentences(address: str, tmp_path: Path) -> None:
    target = "data/tokens/newstest2014/0.fr.zst"
    options = without_sums(address, "wmt14-test", tmp_path)
    result = snakemake(tmp_path, *options, "--", target, target.replace(".fr.", ".en."))
    assert result.returncode == 0, result.stdout
    pairs = list(read_pairs(tmp_path / target.replace(".fr.", ".en."), tmp_path / target))
    assert len(pairs) == 3003
    assert all(english and french for english, french in pairs)


def test_the_news_test_sets_of_the_development_archive_are_whole(address: str, tmp_path: Path) -> None:
    """Those of 2008 to 2011, which the authors trained on, beside the development set."""
    pairs = {"news-test2008": 2051, "newstest2009": 2525, "newstest2010": 2489, "newstest2011": 3003}
    options = [*without_sums(address, "wmt14-dev", tmp_path), "--config", f"use={{train: {list(pairs)}}}"]
    pairs |= {"newstest2012": 3003, "newstest2013": 3000}
    result = snakemake(tmp_path, *options, "--", *(f"data/raw/{corpus}/0.en.zst" for corpus in pairs))
    assert result.returncode == 0, result.stdout
    for corpus, expected in pairs.items():
        sides = (tmp_path / "data" / "raw" / corpus / f"0.{language}.zst" for language in ("en", "fr"))
        found = list(read_pairs(*sides))
        assert len(found) == expected
        assert all(english and french for english, french in found), corpus
