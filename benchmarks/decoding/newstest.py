"""The English tokens of newstest2014: those of the paper's run, or those that the workflow makes in another folder."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import yaml

from benchmarks.findings import ROOT
from benchmarks.training.environment import Unavailable

TOKENS = Path("data", "tokens", "newstest2014", "0.en.zst")


def ensure(folder: Path, mirrors: Sequence[Path], root: Path = ROOT) -> Path:
    """Return the file with the tokens, and make it if it is missing.

    Archives come from `mirrors`, which are laid out as data/archives, or from the network. Raises Unavailable if the
    workflow fails.
    """
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
    """Return the settings of the run. With mirrors it checks no checksums, because their archives may be repacked."""
    if not mirrors:
        return {}
    return {
        "mirrors": [str(mirror.resolve()) for mirror in mirrors],
        "archives": {"wmt14-test": {"bytes": None, "md5": None, "sha256": None}},
        "corpora": {"newstest2014": {"source": {"md5": None}, "target": {"md5": None}}},
    }
