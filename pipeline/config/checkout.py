"""The checkout with the pipeline, and the variables that Snakemake needs there."""

from __future__ import annotations

import os
from contextlib import suppress
from pathlib import Path

REPOSITORY = Path(__file__).resolve().parents[2]


def for_snakemake(folder: Path) -> dict[str, str]:
    """Return variables without which Snakemake would not start here.

    They name a folder for its cache where the user's home cannot be written to, and one with the program `which` for
    systems that have none. No Python that is started imports a file of the folder in which it runs.
    """
    home = Path(os.environ.get("XDG_CACHE_HOME") or Path("~/.cache").expanduser())
    with suppress(OSError):
        home.mkdir(parents=True, exist_ok=True)
    own = folder.absolute() / ".snakemake" / "cache"
    cache = {} if os.access(home, os.W_OK) else {"XDG_CACHE_HOME": str(own)}
    last = str(REPOSITORY / "workflow" / "bin")
    return cache | {
        "PYTHONSAFEPATH": "1",
        "PATH": os.pathsep.join([os.environ.get("PATH", os.defpath), last]),
    }
