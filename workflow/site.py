"""Build a site of the project's pages, in `site/pages`. `make docs` calls this.

Usage: python workflow/site.py [EXPERIMENT]...

The site has the layout of the repository, so that links between pages and to files work in both. A notebook becomes a
page with its stored outputs. There are two additions: a page per package, made from its docstrings, and a gallery of
the pages that finished experiments have in `results/`.
"""

from __future__ import annotations

import base64
import json
import os
import re
import shutil
import subprocess
import sys
import tomllib
from collections.abc import Sequence
from pathlib import Path

import yaml

ROOT = Path(__file__).resolve().parents[1]
PAGES = ("*.md", "docs/**/*.md", "docs/*.ipynb", "benchmarks/README.md", "results/README.md")
SHOWN = {"report.html": "Results", "playground.html": "Playground"}
"""Pages of an experiment, with their names."""
PICTURES = {
    "figure2.png": "BLEU against sentence length",
    "figure3.png": "What a model with attention looks at",
}
"""Figures of an experiment, with their descriptions."""
SITE_FILES = ROOT / "workflow" / "site_files"
LINK = re.compile(r"\]\((?!\w+:)([^)\s#]+)")


def main(experiments: Sequence[str], site: Path = ROOT / "site") -> int:
    """Build the site, and return the exit status of mkdocs, which is not 0 if a link leads nowhere."""
    source = site / "source"
    shutil.rmtree(source, ignore_errors=True)
    address = repository_address()
    copy_pages(source, address)
    shutil.copytree(SITE_FILES, source / "site_files")
    write_gallery([ROOT / name for name in experiments], source)
    settings = yaml.safe_load((ROOT / "mkdocs.yml").read_text(encoding="utf-8"))
    settings["nav"] += [{"Library": write_library(source)}]
    settings["plugins"][-1]["mkdocstrings"]["handlers"]["python"]["paths"] = [str(ROOT)]
    settings |= {
        "docs_dir": str(source),
        "site_dir": str(site / "pages"),
        "repo_url": address,
    }
    (site / "mkdocs.yml").write_text(yaml.safe_dump(settings, sort_keys=False), encoding="utf-8")
    command = [
        sys.executable,
        "-m",
        "mkdocs",
        "build",
        "--strict",
        "-f",
        str(site / "mkdocs.yml"),
    ]  # with -q, mkdocs does not fail on warnings
    # mkdocs 1.6 is pinned, so its warning about version 2 says nothing.
    environment = {**os.environ, "NO_MKDOCS_2_WARNING": "1"}
    return subprocess.run(command, check=False, env=environment).returncode


def repository_address() -> str | None:
    """Return the repository's address, from pyproject.toml or from the machine that builds the site, or None."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    return project["urls"].get("Repository") or os.environ.get("REPOSITORY_URL")


def copy_pages(folder: Path, address: str | None = None) -> None:
    """Copy the pages and every file that one of them links to, with the address of `git clone` if there is one."""
    pages = [page for pattern in PAGES for page in ROOT.glob(pattern)]
    for page in pages:
        for link in LINK.findall(page.read_text(encoding="utf-8")):
            file = (page.parent / link).resolve()
            if file.is_file() and file not in pages:
                copy = folder / file.relative_to(ROOT)
                copy.parent.mkdir(parents=True, exist_ok=True)
                shutil.copyfile(file, copy)
        copy = (folder / page.relative_to(ROOT)).with_suffix(".md")
        copy.parent.mkdir(parents=True, exist_ok=True)
        text = notebook_page(page, copy) if page.suffix == ".ipynb" else page.read_text(encoding="utf-8")
        text = text.replace(".ipynb)", ".md)").replace(
            "git clone REPOSITORY", f"git clone {address or 'REPOSITORY'}"
        )
        copy.write_text(text, encoding="utf-8")


def notebook_page(notebook: Path, page: Path) -> str:
    """Return a notebook in Markdown, its pictures beside `page`."""
    parts = []
    for number, cell in enumerate(json.loads(notebook.read_text(encoding="utf-8"))["cells"]):
        source = "".join(cell["source"])
        if cell["cell_type"] == "markdown":
            parts.append(source)
            continue
        parts.append(f"```python\n{source}\n```")
        for place, output in enumerate(cell["outputs"]):
            text = "".join(output.get("text", ""))
            if text:
                parts.append(f"```text\n{text}```")
            if picture := output.get("data", {}).get("image/png"):
                name = f"{page.stem}-{number}-{place}.png"
                (page.parent / name).write_bytes(base64.b64decode(picture))
                parts.append(f"![What this code draws]({name})")
    return "\n\n".join(parts) + "\n"


def write_gallery(experiments: Sequence[Path], folder: Path) -> None:
    """Write a page with the pictures and pages of each finished experiment, and copy these files."""
    lines = ["# Gallery", "", "What runs of the project have made. These pages need no server.", ""]
    for results in (experiment / "results" for experiment in experiments):
        lines += _entry(results, folder / "gallery" / results.parent.name)
    if not (folder / "gallery").is_dir():
        (folder / "gallery").mkdir(parents=True)
        lines += ["None is finished here: `make demo`, then `make docs`."]
    (folder / "gallery" / "index.md").write_text("\n".join(lines), encoding="utf-8")


def _entry(results: Path, copies: Path) -> list[str]:
    """Return an experiment's part of the gallery, and copy its files beside the page."""
    name, finding = results.parent.name, results / "finding.txt"
    pages, pictures = (
        {file: text for file, text in files.items() if (results / file).is_file()}
        for files in (SHOWN, PICTURES)
    )
    if not pages:
        return []
    copies.mkdir(parents=True)
    for file in (*pages, *pictures):
        shutil.copyfile(results / file, copies / file)
    lines = [f"## {name}", "", finding.read_text(encoding="utf-8") if finding.is_file() else "", ""]
    lines += [" · ".join(f"[{text}]({name}/{file})" for file, text in pages.items()), ""]
    for file, text in pictures.items():
        lines += [f"[![{text}]({name}/{file})]({name}/{next(iter(pages))})", ""]
    return lines


def write_library(folder: Path) -> list[dict[str, str]]:
    """Write a page per package of the library and of the pipeline. Return their places in the navigation."""
    (folder / "library").mkdir()
    entries = []
    for package in [*sorted((ROOT / "nmt").iterdir()), *sorted((ROOT / "pipeline").iterdir())]:
        modules = sorted(package.rglob("*.py")) if package.is_dir() else [package]
        names = [
            ".".join(module.relative_to(ROOT).with_suffix("").parts)
            for module in modules
            if module.stem[0] != "_"
        ]
        if package.stem[0] != "_" and names and package.suffix in ("", ".py"):
            name = f"{package.parent.name}.{package.stem}"
            page = f"# {name}\n\n" + "".join(f"::: {module}\n\n" for module in names)
            (folder / "library" / f"{name}.md").write_text(page, encoding="utf-8")
            entries.append({name: f"library/{name}.md"})
    return entries


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
