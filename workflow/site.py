"""What `make docs` calls: the project's pages as a site, in `site/pages`.

Usage: python workflow/site.py [EXPERIMENT]...

The site has the repository's layout, so that a link between two pages, or to a file, works here as it does there. A
notebook becomes a page with its stored outputs. Added are a page for each package of the library, made from its
docstrings, and a gallery: the pages that finished experiments have in `results/`.
"""

from __future__ import annotations

import base64
import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import yaml

ROOT = Path(__file__).resolve().parents[1]
PAGES = ("*.md", "docs/**/*.md", "docs/*.ipynb", "benchmarks/README.md", "results/README.md")
SHOWN = ("report.html", "playground.html", "explorer.html")
LINK = re.compile(r"\]\((?!\w+:)([^)\s#]+)")


def main(experiments: Sequence[str], site: Path = ROOT / "site") -> int:
    """Build the site; returns mkdocs' exit status, which is not 0 where a link leads nowhere."""
    source = site / "source"
    shutil.rmtree(source, ignore_errors=True)
    copy_pages(source)
    write_gallery([ROOT / name for name in experiments], source)
    settings = yaml.safe_load((ROOT / "mkdocs.yml").read_text(encoding="utf-8"))
    settings["nav"] += [{"Library": write_library(source)}]
    settings["plugins"][-1]["mkdocstrings"]["handlers"]["python"]["paths"] = [str(ROOT)]
    settings |= {
        "docs_dir": str(source),
        "site_dir": str(site / "pages"),
        "repo_url": os.environ.get("REPOSITORY_URL"),
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
    ]  # -q is never strict
    environment = {**os.environ, "NO_MKDOCS_2_WARNING": "1"}  # 1.6 is pinned
    return subprocess.run(command, check=False, env=environment).returncode


def copy_pages(folder: Path) -> None:
    """The pages, and every file that one of them links to."""
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
        copy.write_text(text.replace(".ipynb)", ".md)"), encoding="utf-8")


def notebook_page(notebook: Path, page: Path) -> str:
    """A notebook in Markdown, its pictures beside `page`."""
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
    """A page with what each finished experiment has to show, and these pages."""
    lines = ["# Gallery", "", "Pages that need no server: what runs of the project have made.", ""]
    for results in (experiment / "results" for experiment in experiments):
        found = [name for name in SHOWN if (results / name).is_file()]
        if not found:
            continue
        (folder / "gallery" / results.parent.name).mkdir(parents=True)
        finding = results / "finding.txt"
        lines += [
            f"## {results.parent.name}",
            "",
            finding.read_text(encoding="utf-8") if finding.is_file() else "",
            "",
        ]
        for name in found:
            shutil.copyfile(results / name, folder / "gallery" / results.parent.name / name)
            lines += [f"- [{name.removesuffix('.html')}]({results.parent.name}/{name})"]
        lines += [""]
    if not (folder / "gallery").is_dir():
        (folder / "gallery").mkdir(parents=True)
        lines += ["None is finished here: `make demo`, then `make docs`."]
    (folder / "gallery" / "index.md").write_text("\n".join(lines), encoding="utf-8")


def write_library(folder: Path) -> list[dict[str, str]]:
    """A page for each package of the library and of the pipeline; returns their places in the navigation."""
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
