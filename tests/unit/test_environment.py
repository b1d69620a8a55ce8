"""Machines as they are: modules that set PYTHONPATH, users without a name, checkouts that were copied."""

import os
import pwd
import sys
from pathlib import Path

import pytest

from nmt import environment
from tests.running import ROOT, run_python


def python(code: str, **variables: str) -> str:
    """What a Python prints that finds the project on its path, after other folders."""
    variables["PYTHONPATH"] = os.pathsep.join([variables.get("PYTHONPATH", ""), str(ROOT)])
    program = f"import nmt.environment; nmt.environment.prepare(); {code}"
    return run_python("-c", program, env=variables, check=True).stdout


def test_folders_of_modules_hide_no_package_and_stay_if_they_have_others(tmp_path):
    for folder, name in (("stack", "numpy"), ("plugin", "somebodys_plugin")):
        (tmp_path / folder / name).mkdir(parents=True)
        (tmp_path / folder / name / "__init__.py").write_text(f"print('{name} of a module')")
    (tmp_path / "plugin" / "site").mkdir()  # like the site of the docs in the checkout
    both = os.pathsep.join(str(tmp_path / folder) for folder in ("stack", "plugin"))
    said = python("import numpy, somebodys_plugin, os; print(os.environ['PYTHONPATH'])", PYTHONPATH=both)
    assert "numpy" not in said and "somebodys_plugin of a module" in said
    assert str(tmp_path / "stack") not in said and str(tmp_path / "plugin") in said and str(ROOT) in said


@pytest.mark.parametrize("name", ["torch", "ruamel"])  # ruamel is installed without __init__.py
def test_packages_of_the_user_hide_none_of_a_python_that_would_take_them_first(tmp_path, monkeypatch, name):
    monkeypatch.setattr("site.ENABLE_USER_SITE", True)
    monkeypatch.setattr("site.getusersitepackages", lambda: str(tmp_path))
    assert "PYTHONNOUSERSITE" not in environment.child_environment()
    (tmp_path / name).mkdir()
    (tmp_path / name / "__init__.py").touch()
    assert environment.child_environment()["PYTHONNOUSERSITE"] == "1"


def test_a_user_without_a_name_gets_one_and_a_home(tmp_path, monkeypatch):
    def unknown(user: int) -> None:
        raise KeyError(user)

    monkeypatch.setattr(pwd, "getpwuid", unknown)
    for name in ("HOME", "USER", "LOGNAME", "XDG_CACHE_HOME"):
        monkeypatch.delenv(name, raising=False)
    found = environment.child_environment(tmp_path)
    assert found["USER"] == found["LOGNAME"]
    assert os.access(found["HOME"], os.W_OK)


@pytest.mark.parametrize("kind", ["program", "packages"])
def test_a_copied_checkout_does_not_run_the_code_of_the_first(tmp_path, monkeypatch, kind):
    assert environment.find_checkout_problem() is None
    (tmp_path / "nmt").mkdir()
    (tmp_path / "nmt" / "__init__.py").touch()
    copy = tmp_path / ".venv"
    (copy / "bin").mkdir(parents=True)
    (copy / "pyvenv.cfg").touch()
    if kind == "program":  # its first line names the Python of the first
        (copy / "bin" / "nmt").touch()
        monkeypatch.setattr(sys, "argv", [str(copy / "bin" / "nmt")])
    else:
        monkeypatch.setattr(sys, "prefix", str(copy))
        monkeypatch.setattr(sys, "path", [entry for entry in sys.path if Path(entry).resolve() != ROOT])
    assert "make setup" in str(environment.find_checkout_problem())
