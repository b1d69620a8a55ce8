"""The house is in order beyond what `make lint` sees: names, settings, links, and every pin in one version."""

from __future__ import annotations

import ast
import re
import sys
import tomllib
from pathlib import Path

import pytest
import yaml

import nmt
from tests.running import ROOT, run

EXPERIMENTS = sorted((ROOT / "experiments").glob("*/config.yaml"))
SHARED = ("common.smk", "paths.smk", "resources.smk", "start.smk")
"""What rule files share; the others hold rules."""
RULES = sorted((ROOT / "workflow" / "rules").glob("*.smk"))
DISTRIBUTIONS = {
    "markdown_it": "markdown-it-py",
    "PIL": "pillow",
    "ruamel": "ruamel-yaml",
    "yaml": "pyyaml",
    "pydantic_core": "pydantic",
    "backports": "backports-zstd",
    "compression": "backports-zstd",
}
"""Packages whose import has another name than what is installed."""


def test_no_rule_file_takes_a_name_of_another() -> None:
    """They share one namespace, in which the last one would win."""
    named: dict[str, Path] = {}
    for file in RULES:
        text = file.read_text(encoding="utf-8")
        names = re.findall(r"^([A-Z][A-Z_0-9]*) = ", text, flags=re.MULTILINE)
        for imported in re.findall(r"^from [\w.]+ import (.+)$", text, flags=re.MULTILINE):
            names += re.findall(r"\w+", imported)
        for name in set(names):
            assert named.setdefault(name, file) == file, (name, file.name, named[name].name)


INPUTS_TELL = ("options.stages",)
"""Parameters with a setting that changes the inputs, too."""
UNNOTICED = "options.other_sources"
"""A parameter of which a change is not to be noticed."""


@pytest.mark.parametrize("file", RULES, ids=lambda file: file.name)
def test_a_changed_setting_is_noticed(file: Path) -> None:
    """Snakemake records nothing of a parameter that is made from inputs, so a setting needs one of its own."""
    text = file.read_text(encoding="utf-8")
    for params in re.findall(r"^ +params:\n(.*?)\n *(?:shell|\Z)", text, flags=re.MULTILINE | re.DOTALL):
        for value in re.split(r"^ +\w+=", params, flags=re.MULTILINE):
            if value.startswith("lambda wildcards, input") and "CONFIG" in value:
                assert any(known in value for known in (*INPUTS_TELL, UNNOTICED)), value


def test_links_between_pages_lead_somewhere() -> None:
    folders = (ROOT, ROOT / "docs", ROOT / "results", ROOT / "benchmarks")
    for page in (page for folder in folders for page in folder.glob("*.md")):
        for link in re.findall(
            r"\]\((?!https?:|\.\./\.\./actions)([^)\s]+)\)", page.read_text(encoding="utf-8")
        ):
            path, _, anchor = link.partition("#")
            target = (page.parent / path).resolve() if path else page
            assert target.exists(), f"{page}: {link}"
            headings = (
                re.findall(r"^#+ (.+)$", target.read_text(encoding="utf-8"), re.MULTILINE) if anchor else []
            )
            anchors = [re.sub(r"[^\w -]", "", heading.lower()).replace(" ", "-") for heading in headings]
            assert not anchor or anchor in anchors, f"{page}: {link}"


def pins(lines: list[str]) -> dict[str, str]:
    """Versions of requirements, without markers and what follows; names as package indexes write them."""
    pairs = [line.strip(" -").split("==")[:2] for line in lines if "==" in line and not line.startswith("#")]
    return {re.sub("[._]", "-", name.lower()): version.split()[0] for name, version in pairs}


def test_the_project_states_what_the_lock_file_pins() -> None:
    packages = tomllib.loads((ROOT / "uv.lock").read_text(encoding="utf-8"))["package"]
    lock = {
        package["name"]: package["version"].partition("+")[0] for package in packages if "version" in package
    }
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    extras = project["optional-dependencies"].values()
    stated = [*project["dependencies"], *(requirement for extra in extras for requirement in extra)]
    assert all("==" in requirement for requirement in stated)
    assert pins(stated).items() <= lock.items()


def test_citation_and_changelog_are_of_this_version() -> None:
    citation = yaml.safe_load((ROOT / "CITATION.cff").read_text(encoding="utf-8"))
    assert citation["version"] == nmt.__version__
    changelog = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    assert f"\n## [{nmt.__version__}] - {citation['date-released']}\n" in changelog


def test_every_import_of_the_package_is_a_stated_dependency() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    # PyTorch brings triton where it can be used; logs for TensorBoard are an option of `nmt train`
    library = set(pins(project["dependencies"])) | {"triton", "tensorboardx"}
    stated = {"nmt": library, "pipeline": library | set(pins(project["optional-dependencies"]["workflow"]))}
    for file in [*(ROOT / "nmt").rglob("*.py"), *(ROOT / "pipeline").rglob("*.py")]:
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
            names = [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
            names += [str(node.module)] if isinstance(node, ast.ImportFrom) else []
            for name in (
                {name.split(".")[0] for name in names} - sys.stdlib_module_names - {"nmt", "pipeline"}
            ):
                assert DISTRIBUTIONS.get(name, name).lower() in stated[file.relative_to(ROOT).parts[0]], (
                    file,
                    name,
                )


def test_packages_import_nothing_heavy() -> None:
    program = (
        "import pkgutil, sys; import nmt, pipeline; "
        "packages = [found for room in (nmt, pipeline)"
        " for found in pkgutil.walk_packages(room.__path__, f'{room.__name__}.') if found.ispkg]; "
        "print(len(packages), "
        "[name for name in ('torch', 'numpy', 'pandas', 'matplotlib', 'pydantic') if name in sys.modules])"
    )
    count, _, heavy = run([sys.executable, "-c", program]).stdout.strip().partition(" ")
    assert int(count) > 10
    assert heavy == "[]"


def test_snakefile_imports_nothing_heavy() -> None:
    program = (
        "import sys; import pipeline.config.layers, pipeline.monitor.preflight; "
        "print([name for name in ('torch', 'pandas', 'matplotlib') if name in sys.modules])"
    )
    result = run([sys.executable, "-c", program])
    assert result.stdout.strip() == "[]"
