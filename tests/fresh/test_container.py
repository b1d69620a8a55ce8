"""The steps of container/Dockerfile, each in a minimal Debian with Python, which is what its base image is."""

from __future__ import annotations

import re
import shlex
import shutil
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.fresh.machines import by_user, make_machine, requirements, run
from tests.running import ROOT

pytestmark = requirements
DOCKERFILE = (ROOT / "container" / "Dockerfile").read_text(encoding="utf-8")
BASE = {"python:3.11-slim-bookworm": ("debian bookworm", "python3 ca-certificates")}
"""What the base image is made from, and Debian's names of what it adds."""
PROGRAMS = (
    "nmt --version && snakemake --version && for name in lmplz build_binary query; do command -v $name; done"
)
COMPILES = 'echo "int main(void) { return 0; }" > /tmp/one.c && gcc /tmp/one.c -o /tmp/one && /tmp/one'


def instructions(text: str) -> Iterator[tuple[str, str]]:
    """The instructions of a Dockerfile, each with what follows it."""
    for line in text.replace("\\\n", " ").splitlines():
        if line and not line.startswith("#"):
            name, _, rest = line.partition(" ")
            yield name, rest


@pytest.fixture
def image(tmp_path: Path) -> Iterator[Path]:
    """The root of the base."""
    (tag,) = re.findall("^FROM ([^@ ]+)", DOCKERFILE, flags=re.MULTILINE)
    release, packages = BASE[tag]
    with make_machine(release, tmp_path) as root:
        install = f"apt-get update && apt-get install --yes --no-install-recommends {packages}"
        run("chroot", root, "sh", "-c", install)
        yield root


def megabytes(root: Path) -> int:
    return int(run("du", "--summarize", "--one-file-system", "--block-size=1M", root).split()[0])


def test_the_recipes_steps_end_in_working_programs(image: Path, capsys: pytest.CaptureFixture[str]) -> None:
    before, begun = megabytes(image), time.monotonic()
    environment, folder = {"TORCH": "cpu"}, "/"
    for name, rest in instructions(DOCKERFILE):
        if name == "ARG":
            variable, _, value = rest.partition("=")
            environment.setdefault(variable, value.strip('"'))
        elif name == "WORKDIR":
            folder = rest
            (image / folder.lstrip("/")).mkdir(parents=True, exist_ok=True)
        elif name == "COPY":
            copy(rest, image / folder.lstrip("/"))
        elif name == "RUN":
            told = " ".join(f"{variable}={shlex.quote(value)}" for variable, value in environment.items())
            by_user(image, f"cd {folder} && {told} {rest}", "root")
        elif name == "ENV":
            variables = rest
        else:
            assert name in ("FROM", "CMD"), f"{name}: no instruction that this test knows"
    seconds = time.monotonic() - begun
    said = by_user(image, f"export {variables} && {PROGRAMS} && {COMPILES}")
    assert said.splitlines()[2:] == [f"/opt/kenlm/{name}" for name in ("lmplz", "build_binary", "query")]
    with capsys.disabled():
        print(
            f"\nPyTorch's build cpu: {seconds:.0f} s, {megabytes(image):,} MB, of which the base {before:,}"
        )


def copy(rest: str, folder: Path) -> None:
    """What COPY does: files into a folder, a folder's files into one, or a file to a name."""
    *sources, target = rest.split()
    for source in sources:
        place = folder / target / source if target.endswith("/") else folder / target
        place.parent.mkdir(parents=True, exist_ok=True)
        if (ROOT / source).is_dir():
            shutil.copytree(ROOT / source, place, ignore=shutil.ignore_patterns("__pycache__"))
        else:
            shutil.copy(ROOT / source, place)
