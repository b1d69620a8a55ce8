"""The English tokens of newstest2014: those of the paper's run, or made by the workflow in a folder of their own."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import yaml

from benchmarks.training.contest import ROOT

TOKENS = Path("data", "tokens", "newstest2014", "0.en.zst")


class Unavailable(Exception):
    """The workflow could not make them; the message says why."""


def ensure(folder: Path, mirrors: Sequence[Path], root: Path = ROOT) -> Path:
    """The file; archives come from `mirrors`, laid out as data/archives, or else from the network."""
    for place in (root, folder):
        if (place / TOKENS).is_file():
            return place / TOKENS
    print(f"Making {TOKENS} in {folder}", file=sys.stderr, flush=True)
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "config.yaml").write_text(yaml.safe_dump(overlay(mirrors)), encoding="utf-8")
    command = [sys.executable, "-m", "snakemake", "--snakefile", str(ROOT / "Snakefile"), "--directory"]
    command += [str(folder), "--cores", "1", "--", str(TOKENS)]
    if subprocess.run(command, stdout=sys.stderr, check=False).returncode:
        raise Unavailable(
            f"{TOKENS} could not be made, see above; give a folder with wmt14/test-full.tgz as --mirrors, another text "
            f"as --source, or --drawn"
        )
    return folder / TOKENS


def overlay(mirrors: Sequence[Path]) -> dict[str, Any]:
    """Settings of the run; a mirror's archive may be repacked, which changes its checksums."""
    if not mirrors:
        return {}
    return {
        "mirrors": [str(mirror.resolve()) for mirror in mirrors],
        "archives": {"wmt14-test": {"bytes": None, "md5": None, "sha256": None}},
        "corpora": {"newstest2014": {"source": {"md5": None}, "target": {"md5": None}}},
    }
