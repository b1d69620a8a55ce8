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
PAGES = ("*.md", "docs/**/*.md", "docs/**/*.ipynb", "benchmarks/README.md", "results/README.md")
SHOWN = {"report.html": "Results", "playground.html": "Playground"}
"""Pages of an experiment, with their names."""
LINK = re.compile(r"\]\((?!\w+:)([^)\s#]+)")


def main(experiments: Sequence[str], site: Path = ROOT / "site") -> int:
    """Build the site, and return the exit status of mkdocs, which is not 0 if a link leads nowhere."""
    source = site / "source"
    shutil.rmtree(source, ignore_errors=True)
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    address = project["urls"].get("Repository") or os.environ.get("REPOSITORY_URL")
    copy_pages(source, address)
    shutil.copytree(ROOT / "workflow" / "site_files", source / "site_files")
    write_gallery([ROOT / name / "results" for name in experiments], source / "gallery")
    settings = yaml.safe_load((ROOT / "mkdocs.yml").read_text(encoding="utf-8"))
    settings["nav"] += [{"Library": write_library(source / "library")}]
    settings["plugins"][-1]["mkdocstrings"]["handlers"]["python"]["paths"] = [str(ROOT)]
    settings |= {"docs_dir": str(source), "site_dir": str(site / "pages"), "repo_url": address}
    (site / "mkdocs.yml").write_text(yaml.safe_dump(settings, sort_keys=False), encoding="utf-8")
    # with -q, mkdocs does not fail on warnings; 1.6 is pinned, so its warning about version 2 says nothing
    command = [sys.executable, "-m", "mkdocs", "build", "--strict", "-f", str(site / "mkdocs.yml")]
    return subprocess.run(command, check=False, env={**os.environ, "NO_MKDOCS_2_WARNING": "1"}).returncode


def copy_pages(folder: Path, address: str | None = None) -> None:
    """Copy the pages and every file that one of them links to, with the address of `git clone` if there is one."""
    for page in [page for pattern in PAGES for page in ROOT.glob(pattern)]:
        text = page.read_text(encoding="utf-8")
        for link in LINK.findall(text):
            file = (page.parent / link).resolve()
            if file.is_file() and file.suffix not in (".md", ".ipynb"):
                copy = folder / file.relative_to(ROOT)
                copy.parent.mkdir(parents=True, exist_ok=True)
                shutil.copyfile(file, copy)
        copy = (folder / page.relative_to(ROOT)).with_suffix(".md")
        copy.parent.mkdir(parents=True, exist_ok=True)
        text = notebook_page(text, copy) if page.suffix == ".ipynb" else text.replace(".ipynb)", ".md)")
        copy.write_text(
            text.replace("clone REPOSITORY", f"clone {address or 'REPOSITORY'}"), encoding="utf-8"
        )


def notebook_page(notebook: str, page: Path) -> str:
    """Return a notebook in Markdown, its pictures beside `page`."""
    parts = []
    for number, cell in enumerate(json.loads(notebook)["cells"]):
        source = "".join(cell["source"])
        parts.append(source if cell["cell_type"] == "markdown" else f"```python\n{source}\n```")
        for place, output in enumerate(cell.get("outputs", [])):
            if text := "".join(output.get("text", "")):
                parts.append(f"```text\n{text}```")
            if picture := output.get("data", {}).get("image/png"):
                name = f"{page.stem}-{number}-{place}.png"
                (page.parent / name).write_bytes(base64.b64decode(picture))
                parts.append(f"![What this code draws]({name})")
    return "\n\n".join(parts) + "\n"


def write_gallery(results: Sequence[Path], folder: Path) -> None:
    """Write a page with the finding, the pages and Figure 2 of each finished experiment, and copy these files."""
    folder.mkdir(parents=True)
    lines = ["# Gallery", "", "Pages of finished experiments (`make demo`). They need no server.", ""]
    for place in [place for place in results if (place / "report.html").is_file()]:
        name, finding, figure = place.parent.name, place / "headline.txt", place / "figure2.png"
        pages = [page for page in SHOWN if (place / page).is_file()]
        (folder / name).mkdir()
        for file in [*pages, *[figure.name] * figure.is_file()]:
            shutil.copyfile(place / file, folder / name / file)
        lines += [f"## {name}", "", finding.read_text(encoding="utf-8") if finding.is_file() else "", ""]
        lines += [" · ".join(f"[{SHOWN[page]}]({name}/{page})" for page in pages), ""]
        if figure.is_file():
            lines += [f"![BLEU against sentence length]({name}/figure2.png)", ""]
    (folder / "index.md").write_text("\n".join(lines), encoding="utf-8")


def write_library(folder: Path) -> list[dict[str, str]]:
    """Write a page per package of the library and of the pipeline. Return their places in the navigation."""
    folder.mkdir()
    modules: dict[str, list[str]] = {}
    for module in [path for top in ("nmt", "pipeline") for path in sorted((ROOT / top).rglob("*.py"))]:
        parts = module.relative_to(ROOT).with_suffix("").parts
        if len(parts) > 1 and not module.stem.startswith("_"):
            modules.setdefault(".".join(parts[:2]), []).append(".".join(parts))
    for name, members in modules.items():
        page = f"# {name}\n\n" + "".join(f"::: {module}\n\n" for module in members)
        (folder / f"{name}.md").write_text(page, encoding="utf-8")
    return [{name: f"library/{name}.md"} for name in modules]


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
