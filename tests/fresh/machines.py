"""Machines that have nothing yet: minimal installations that debootstrap makes and that are gone afterwards.

Of this machine they get where it looks for packages: names of hosts, proxies, certificates, pip's settings.
"""

import os
import re
import shlex
import shutil
import subprocess
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

MIRRORS = {"debian": "http://deb.debian.org/debian", "ubuntu": "http://archive.ubuntu.com/ubuntu"}
SCRIPTS = Path("/usr/share/debootstrap/scripts")
YOUNGER = {"debian": "sid", "ubuntu": "gutsy"}
"""The scripts for releases that this debootstrap does not know yet."""
PROGRAMS = ("apt-get", "debootstrap", "unshare", "chroot", "git")
ENTER = """
root=$1 command=$2; shift 2
mount --rbind /dev "$root/dev"
mount -t tmpfs -o mode=1777 tmpfs "$root/dev/shm"
for place in "$@"; do mount --bind -o ro "$place" "$root$place"; done
exec chroot "$root" su --login user --command "$command"
"""
"""Mounts and processes are those of the call alone: none is left behind."""

lacking = [name for name in PROGRAMS if not shutil.which(name)]
requirements = [
    pytest.mark.slow,
    pytest.mark.skipif(os.geteuid() != 0, reason="only root can make a machine"),
    pytest.mark.skipif(bool(lacking), reason=f"not installed: {', '.join(lacking)}"),
]


def mirror(distribution: str, suite: str) -> str | None:
    """Where a release can be had: of this machine's own sources, else from the distribution."""
    asked = ["apt-get", "indextargets", "--no-release-info", "--format", "$(REPO_URI)"]
    own = subprocess.run(asked, capture_output=True, text=True, check=True).stdout.split()
    for address in dict.fromkeys([*own, MIRRORS[distribution]]):
        try:
            urllib.request.urlopen(f"{address.rstrip('/')}/dists/{suite}/Release", timeout=20).close()
        except (OSError, ValueError):
            continue
        return address
    return None


def run(*command: str | Path) -> str:
    """Run a command to its end; what it printed."""
    ended = subprocess.run(
        command,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
    )
    assert ended.returncode == 0, ended.stdout[-5000:]
    return ended.stdout


@contextmanager
def make_machine(release: str, folder: Path) -> Iterator[Path]:
    """The root of a minimal installation with a user, in a folder; release: such as "debian bookworm"."""
    distribution, suite = release.split()
    address = mirror(distribution, suite)
    if address is None:
        pytest.skip(f"no mirror has {release}")
    root = folder / suite
    keyring = Path(f"/usr/share/keyrings/{distribution}-archive-keyring.gpg")
    options = ["--variant=minbase", *([] if keyring.exists() else ["--no-check-gpg"])]
    script = SCRIPTS / (suite if (SCRIPTS / suite).exists() else YOUNGER[distribution])
    try:
        run("debootstrap", *options, suite, root, address, script)
        for name in ("resolv.conf", "hosts"):
            shutil.copy(Path("/etc", name), root / "etc" / name)
        run("chroot", root, "useradd", "--create-home", "--shell", "/bin/bash", "user")
        yield root
    finally:
        shutil.rmtree(root)


def by_user(root: Path, command: str) -> str:
    """Run a command as the user of a machine; what it printed."""
    settings = {
        name: value
        for name, value in os.environ.items()
        if name.startswith("PIP_") or name.lower().endswith("_proxy") or name == "SSL_CERT_FILE"
    }
    for name in {"PIP_CERT", "SSL_CERT_FILE"} & set(settings):
        shutil.copy(settings[name], root / "certificates")
        settings[name] = "/certificates"
    told = [shlex.quote(f"{name}={value}") for name, value in settings.items()]
    files = re.findall(r"(?:^| |file://)(/[^ ]+)", " ".join([*settings.values()]))
    # an index of files has them beside its folder
    places = {re.sub("/simple/?$", "", name) for name in files if Path(name).is_dir()}
    for place in places:
        Path(f"{root}{place}").mkdir(parents=True, exist_ok=True)
    alone = ["unshare", "--mount", "--pid", "--fork", "--kill-child", f"--mount-proc={root / 'proc'}"]
    line = " ".join(["export", *told]) + f"\n{command}"
    return run(*alone, "bash", "-euc", ENTER, "enter", root, line, *sorted(places))
