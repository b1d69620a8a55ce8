"""What the packages import: stated dependencies, and nothing heavy where each call would pay for it."""

import ast
import re
import sys
import tomllib

from tests.running import ROOT, run

DISTRIBUTIONS = {
    "markdown_it": "markdown-it-py",
    "PIL": "pillow",
    "yaml": "pyyaml",
    "ruamel": "ruamel-yaml",
    "pydantic_core": "pydantic",
    "backports": "backports-zstd",
    "compression": "backports-zstd",
}
"""Packages whose import has another name than what is installed."""


def named(requirements: list[str]) -> set[str]:
    """Names of requirements, as package indexes write them."""
    names = [re.match(r"[\w.-]+", line)[0] for line in requirements]
    return {re.sub("[._]", "-", name.lower()) for name in names}


def test_every_import_is_a_dependency():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    # PyTorch brings triton where it can be used; logs for TensorBoard are an option of `nmt train`
    library = named(project["dependencies"]) | {"triton", "tensorboardx"}
    stated = {"nmt": library, "pipeline": library | named(project["optional-dependencies"]["workflow"])}
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


def test_packages_import_nothing_heavy():
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
