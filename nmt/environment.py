"""The environment of this process and of all that it starts, whatever a machine's modules and shells have set.

`nmt`, make's runs and the Snakefile call `prepare` before they import a package of others, which need not be there yet.
"""

from __future__ import annotations

import os
import pwd
import site
import sys
import sysconfig
import tempfile
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path

REPOSITORY = Path(__file__).resolve().parents[1]
"""The checkout, or the folder in which the package is installed."""


def prepare() -> None:
    """Give this process the environment of those that it starts, and its packages the place before others."""
    hidden = {os.path.abspath(entry) for entry in [*_python_path(), _user_site()] if _hides_packages(entry)}
    os.environ |= environment()
    sys.path[:] = [entry for entry in sys.path if not entry or os.path.abspath(entry) not in hidden]


def environment(folder: Path | None = None) -> dict[str, str]:
    """Return the variables for a process that is started, besides those that it inherits.

    - No folder of PYTHONPATH, and no package of the user's own, hides a package that is installed here: a cluster's
      modules set such folders, and another NumPy would compute the results. Folders with other packages stay.
    - No Python imports a file of the folder in which it runs.
    - A user without a name, as in a container, gets one, since programs ask for it; and a home if there is none.
    - The cache of Snakemake lies in the `folder` of its experiment where the home cannot be written to.
    - The program `which` is found, which some systems lack, and Snakemake needs.
    """
    values = {
        "PYTHONSAFEPATH": "1",
        "PYTHONPATH": os.pathsep.join(entry for entry in _python_path() if not _hides_packages(entry)),
    }
    if _hides_packages(_user_site()):
        values["PYTHONNOUSERSITE"] = "1"
    values |= _user()
    if folder and not _writable_cache(os.environ | values):
        values["XDG_CACHE_HOME"] = str(folder.absolute() / ".snakemake" / "cache")
    programs = os.environ.get("PATH", os.defpath).split(os.pathsep)
    last = str(REPOSITORY / "workflow" / "bin")
    return values | {"PATH": os.pathsep.join([*programs, *[last] * (last not in programs)])}


def other_checkout() -> str | None:
    """Return what is wrong if a copied or moved checkout runs the program of the one that it was; None if nothing is.

    A virtual environment names its folder in each of its programs, and in its link to the checkout.
    """
    prefix = Path(sys.prefix)
    # Snakemake has changed the working folder, which the shell still names
    places = [Path(folder, sys.argv[0]) for folder in (os.getcwd(), os.environ.get("PWD", ""))]
    program = next((place for place in places if place.is_file()), places[0])
    called = program.parent.parent
    if (called / "pyvenv.cfg").is_file() and not called.samefile(prefix):
        return f"{program} belongs to {prefix}: the folder was copied; call `make setup` in {called.parent}"
    checkout = prefix.parent
    # where a Snakefile or PYTHONPATH names the code
    on_path = {os.path.realpath(entry) for entry in sys.path}
    if (
        prefix.name == ".venv"
        and (checkout / "nmt" / "__init__.py").is_file()
        and not checkout.samefile(REPOSITORY)
        and str(REPOSITORY) not in on_path
    ):
        return (
            f"{prefix} runs the code of {REPOSITORY}: the folder was copied; call `make setup` in {checkout}"
        )
    return None


def _python_path() -> list[str]:
    return [entry for entry in os.environ.get("PYTHONPATH", "").split(os.pathsep) if entry]


def _user_site() -> str:
    return site.getusersitepackages() if site.ENABLE_USER_SITE else ""


def _hides_packages(folder: str) -> bool:
    """Return whether a folder has modules of the names of those that are installed here, or of Python's own."""
    if not folder or not os.path.isdir(folder):
        return False
    installed = {sysconfig.get_path("purelib"), sysconfig.get_path("platlib")}
    if os.path.realpath(folder) in map(os.path.realpath, installed):
        return False
    names = set().union(*map(_modules, installed)) - {"nmt"}
    return not _modules(folder).isdisjoint(names | sys.stdlib_module_names)


def _modules(folder: str) -> set[str]:
    with suppress(OSError):
        return {
            entry.name.partition(".")[0]
            for entry in os.scandir(folder)
            if entry.name.endswith((".py", ".so")) or (entry.is_dir() and entry.name.isidentifier())
        } - {"__pycache__"}
    return set()


def _user() -> dict[str, str]:
    """Return a name, and perhaps a home, for a user whom the system does not know."""
    user = os.getuid()
    with suppress(KeyError):
        pwd.getpwuid(user)
        return {}
    named = {name: os.environ.get(name) or f"user-{user}" for name in ("LOGNAME", "USER")}
    home = os.environ.get("HOME", "")
    if home and os.access(home, os.W_OK):
        return named
    folder = Path(tempfile.gettempdir(), f"nmt-{user}")
    with suppress(OSError):
        folder.mkdir(mode=0o700, exist_ok=True)
    return named | {"HOME": str(folder)}


def _writable_cache(values: Mapping[str, str]) -> bool:
    cache = Path(values.get("XDG_CACHE_HOME") or Path(values.get("HOME") or "~").expanduser() / ".cache")
    with suppress(OSError):
        cache.mkdir(parents=True, exist_ok=True)
    return os.access(cache, os.W_OK)
