"""The commands that README and the pages of docs/ show."""

import re
from pathlib import Path

from tests.running import ROOT

PAGES = sorted(
    path.relative_to(ROOT)
    for path in [
        ROOT / "README.md",
        ROOT / "CONTRIBUTING.md",
        ROOT / "benchmarks" / "README.md",
        *ROOT.glob("docs/**/*.md"),
    ]
)
PROGRAMS = {
    *("apptainer", "docker", "echo", "git", "make", "mkdir", "nmt", "pip", "sacrebleu", "sbatch"),
    *("snakemake", "source", "uv", "watch", ".venv/bin/nmt"),
}
"""What a line of a block begins with where it is a command."""


def commands(page: Path) -> list[str]:
    """The commands of a page's blocks, each in one line, without the words that explain it."""
    found: list[str] = []
    text = re.sub(r"^```\w*\n.*?^```", "", (ROOT / page).read_text(encoding="utf-8"), flags=re.DOTALL | re.M)
    for paragraph in re.sub(r"\\\n +", "", text).split("\n\n"):
        lines = paragraph.strip("\n").splitlines()
        if not all(line.startswith("    ") for line in lines):
            continue  # what an item of a list says in its second line is no command
        for line in lines:
            command = re.split(r"  +| +# ", line.removeprefix("    ").removeprefix("$ "))[0].strip()
            if command.split(" ")[0] in PROGRAMS:
                found.append(command)
    return found
