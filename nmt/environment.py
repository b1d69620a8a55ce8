"""The environment of this process and of the processes that it starts.

A machine's modules and shells may set variables with which Python would import other packages. `nmt`, make's runs and
the Snakefile call `prepare` first. So this module imports no package but Python's own.
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
    """Set the variables of `child_environment`, and take folders that hide installed packages out of `sys.path`."""
    folders = [*_python_path(), _user_site()]
    hiding_folders = {os.path.abspath(folder) for folder in folders if _hides_packages(folder)}
    os.environ |= child_environment()
    sys.path[:] = [folder for folder in sys.path if os.path.abspath(folder) not in hiding_folders]


def child_environment(folder: Path | None = None) -> dict[str, str]:
    """Return the variables to set for a child process, which inherits all others of this process.

    - PYTHONPATH and the user's own packages: without the folders that hide a package of this environment. A cluster's
      modules set such folders, and then a different NumPy would compute the results.
    - Python imports no file of the folder in which it runs.
    - LOGNAME, USER and HOME: set if they are missing, as in a container, because programs ask for them.
    - Snakemake's cache: in the `folder` of the experiment if the home cannot be written to.
    - PATH: with the program `which`, which Snakemake needs and some systems lack.
    """
    python_path = [entry for entry in _python_path() if not _hides_packages(entry)]
    variables = {"PYTHONSAFEPATH": "1", "PYTHONPATH": os.pathsep.join(python_path)}
    if _hides_packages(_user_site()):
        variables["PYTHONNOUSERSITE"] = "1"
    variables |= _user_variables()
    if folder and not _has_writable_cache(os.environ | variables):
        variables["XDG_CACHE_HOME"] = str(folder.absolute() / ".snakemake" / "cache")

    # The folder of our `which` comes last, so that the system's own `which` is found first.
    program_folders = os.environ.get("PATH", os.defpath).split(os.pathsep)
    which_folder = str(REPOSITORY / "workflow" / "bin")
    if which_folder not in program_folders:
        program_folders.append(which_folder)
    variables["PATH"] = os.pathsep.join(program_folders)
    return variables


def find_checkout_problem() -> str | None:
    """Return an error message if a copied checkout runs the program or the code of the original, otherwise None.

    This happens because the programs of its virtual environment, and its link to the checkout, name the old folder.
    """
    # Python's environment. If `sys.path` names this code, a Snakefile or PYTHONPATH has chosen it on purpose.
    environments = []
    if str(REPOSITORY) not in {os.path.realpath(entry) for entry in sys.path}:
        environments.append(Path(sys.prefix))

    # The program's environment, if it is a different one. Its path may be relative to the folder of the shell (PWD),
    # because Snakemake has changed the folder of the process.
    for folder in (os.getcwd(), os.environ.get("PWD", "")):
        program = Path(folder, sys.argv[0])
        program_environment = program.parent.parent  # the program is .venv/bin/nmt
        if program.is_file() and not program_environment.samefile(sys.prefix):
            environments.append(program_environment)

    for environment in environments:
        checkout = environment.parent
        is_in_checkout = environment.name == ".venv" and (checkout / "nmt" / "__init__.py").is_file()
        if is_in_checkout and not checkout.samefile(REPOSITORY):
            return (
                f"{environment} runs the code of {REPOSITORY}: the folder was copied; run `make setup` in "
                f"{checkout}"
            )
    return None


def _python_path() -> list[str]:
    """Return the folders of PYTHONPATH."""
    return [entry for entry in os.environ.get("PYTHONPATH", "").split(os.pathsep) if entry]


def _user_site() -> str:
    """Return the folder of the user's own packages, or "" if Python does not import them."""
    return site.getusersitepackages() if site.ENABLE_USER_SITE else ""


def _hides_packages(folder: str) -> bool:
    """Return whether a folder has a module with the name of an installed module, or of a module of Python itself."""
    if not folder or not os.path.isdir(folder):
        return False
    package_folders = {sysconfig.get_path("purelib"), sysconfig.get_path("platlib")}
    if os.path.realpath(folder) in map(os.path.realpath, package_folders):
        return False
    names = set(sys.stdlib_module_names)
    for package_folder in package_folders:
        with suppress(OSError):
            names |= {name.partition(".")[0] for name in os.listdir(package_folder)}
    names.discard("nmt")  # PYTHONPATH may name a checkout of this project
    return not names.isdisjoint(_list_modules(folder))


def _list_modules(folder: str) -> set[str]:
    """Return the names of the modules in a folder.

    For example, `site` with the built docs is none: Python prefers any module to a folder without __init__.py.
    """
    with suppress(OSError):
        return {
            entry.name.partition(".")[0]
            for entry in os.scandir(folder)
            if entry.name.endswith((".py", ".so")) or os.path.isfile(os.path.join(entry, "__init__.py"))
        }
    return set()


def _user_variables() -> dict[str, str]:
    """Return LOGNAME and USER for a user whom the system does not know, as in a container, or {} for a known user.

    HOME is added if the user has no home that can be written to.
    """
    user_id = os.getuid()
    with suppress(KeyError):
        pwd.getpwuid(user_id)  # a KeyError for an unknown user
        return {}
    variables = {name: os.environ.get(name) or f"user-{user_id}" for name in ("LOGNAME", "USER")}
    home = os.environ.get("HOME", "")
    if not home or not os.access(home, os.W_OK):
        folder = Path(tempfile.gettempdir(), f"nmt-{user_id}")
        with suppress(OSError):
            folder.mkdir(mode=0o700, exist_ok=True)
        variables["HOME"] = str(folder)
    return variables


def _has_writable_cache(variables: Mapping[str, str]) -> bool:
    """Return whether the folder for caches exists, or can be made, and can be written to."""
    home = Path(variables.get("HOME") or "~").expanduser()
    cache = Path(variables.get("XDG_CACHE_HOME") or home / ".cache")
    with suppress(OSError):
        cache.mkdir(parents=True, exist_ok=True)
    return os.access(cache, os.W_OK)
