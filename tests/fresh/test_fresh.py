"""README's promise on machines that have nothing yet: its line of packages, its two commands, by an ordinary user."""

import re
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.fresh.machines import by_user, make_machine, requirements, run
from tests.running import ROOT, TINY

pytestmark = requirements
RELEASES = ["debian bookworm", "debian trixie", "ubuntu noble", "ubuntu resolute"]
"""Debian 12 and 13, Ubuntu 24.04 and 26.04: Python 3.11, 3.13, 3.12 and 3.14."""
TESTS = "tests/unit/io tests/unit/test_api.py tests/pipeline/download tests/tools/test_install.py"


@pytest.fixture(params=RELEASES)
def machine(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Path]:
    """The root of a minimal installation."""
    with make_machine(request.param, tmp_path) as root:
        yield root


def test_readmes_commands_work_on_a_fresh_machine(machine, capsys):
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    (packages,) = re.findall("Debian, Ubuntu: `apt install ([^`]+)`", readme)
    (demo,) = re.findall("## Start\n\n.+\n\n    (.+)\n", readme)
    small, large = re.findall(r"(\d) GB of\s+disk", readme)
    install = f"apt-get update && DEBIAN_FRONTEND=noninteractive apt-get install --yes {packages}"
    run("chroot", machine, "sh", "-c", install)
    home = machine / "home" / "user"
    run("git", "clone", "--quiet", "--bare", "--no-local", ROOT, home / "repository.git")
    (home / "tiny.yaml").write_text(TINY, encoding="utf-8")
    run("chroot", machine, "chown", "--recursive", "user:", "/home/user")

    by_user(machine, "git clone repository.git nmt")
    begun = time.monotonic()
    said = by_user(machine, f"cd nmt && {demo} OPTIONS='--configfile /home/user/tiny.yaml'")
    done = time.monotonic()
    assert "experiments/demo/results/report.html" in said
    # where PyTorch's index does not answer, PyPI's build is taken, which has CUDA
    version = by_user(machine, "nmt/.venv/bin/python -c 'import torch; print(torch.__version__)'").strip()
    megabytes = int(run("du", "--summarize", "--block-size=1M", home).split()[0])
    assert megabytes < 1000 * int(small if version.endswith("+cpu") else large)
    with capsys.disabled():
        print(f"\n{machine.name}: setup and demo {done - begun:.0f} s, {megabytes:,} MB, PyTorch {version}")
    tested = by_user(machine, f"cd nmt && .venv/bin/python --version && make test OPTIONS='{TESTS}'")
    with capsys.disabled():
        print(f"{tested.splitlines()[0]}, {TESTS}: {tested.splitlines()[-1].strip('= ')}")
