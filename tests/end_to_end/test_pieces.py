"""A run in pieces: runs of two machines, without their weights, become one package of results."""

import sys
from pathlib import Path

from tests.running import ROOT, TINY, nmt, run, snakemake

DEMO = ROOT / "experiments" / "demo"
SETTINGS = """
data_from: ../text
use: {models: [rnnencdec-50, rnnsearch-50, rnnsearch-50-star]}
artifacts: {figure2_models: [rnnsearch-50, rnnencdec-50]}
playground: {models: []}
"""
PIECES = "A: [rnnsearch-50, rnnsearch-50-star]\nB: [rnnencdec-50]\n"


def pieces(*arguments: str | Path) -> list[str]:
    return [sys.executable, "tools/pieces.py", *map(str, arguments)]


def test_pieces_become_one_package(tmp_path):
    (tmp_path / "text").mkdir()
    (tmp_path / "text" / "config.yaml").write_text(f"extends: {DEMO}\n{TINY}", encoding="utf-8")
    assert snakemake(tmp_path / "text", "--cores", "2", "data").returncode == 0
    for folder in ("A", "B", "joined"):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "config.yaml").write_text(f"extends: ../text\n{SETTINGS}", encoding="utf-8")
        (tmp_path / folder / "pieces.yaml").write_text(PIECES, encoding="utf-8")
    for piece, runs in {"A": "A", "B": "rnnencdec-50"}.items():  # a group of runs, and a run
        result = run(pieces("run", tmp_path / piece, runs, "--at-once", "2"))
        assert result.returncode == 0, result.stdout
    first, second = (sorted(tmp_path.glob(f"{piece}/pieces/*.tar.zst")) for piece in ("A", "B"))
    assert len(first) == 2 and len(second) == 1

    result = run(pieces("join", tmp_path / "joined", *second))
    assert result.returncode != 0, "a piece is missing"
    result = run(pieces("join", tmp_path / "joined", *first))
    assert result.returncode == 0, result.stdout
    assert nmt("verify", tmp_path / "joined" / "results").returncode == 0
    assert not list(tmp_path.glob("joined/**/*.safetensors"))
    packed = max(archive.stat().st_mtime for archive in first)
    for file in tmp_path.glob("joined/translations/test/*"):
        assert file.stat().st_mtime > packed, "scores of a run that was joined before would stay"
    assert run(pieces("run", tmp_path / "joined", "C")).returncode != 0, "no such run"
