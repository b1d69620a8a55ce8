"""Build a site of the project's pages, in `site/pages`. `make docs` calls this.

Usage: python tools/site.py [EXPERIMENT]...

The site has the layout of the repository, so that links between pages and to files work in both. A notebook becomes a
page with its stored outputs. There are two additions: a page per package, made from its docstrings, and a gallery of
the pages that finished experiments have in `results/`.
"""

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
GALLERY_FILES = {
    "report.html": "[Results]",
    "playground.html": "[Playground]",
    "figure2.png": "![BLEU against sentence length]",
}
"""Files of an experiment's results that the gallery shows, with the beginnings of their links."""
LINK = re.compile(r"\]\((?!\w+:)([^)\s#]+)")
"""A link to a file, such as ](running.md#seeds), but not to an address such as https://..."""


def main(experiments: Sequence[str], site: Path = ROOT / "site") -> int:
    """Build the site, and return the exit status of mkdocs, which is not 0 if a link leads nowhere."""
    source = site / "source"
    shutil.rmtree(source, ignore_errors=True)

    # 1. the pages of the repository, the gallery, and a page per package of the code
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    address = project["urls"].get("Repository") or os.environ.get("REPOSITORY_URL")
    copy_pages(source, address)
    shutil.copytree(ROOT / "tools" / "site_files", source / "site_files")
    write_gallery([ROOT / name / "results" for name in experiments], source / "gallery")
    library_pages = write_library(source / "library")

    # 2. mkdocs' settings
    settings = yaml.safe_load((ROOT / "mkdocs.yml").read_text(encoding="utf-8"))
    settings["nav"].append({"Library": library_pages})
    settings["plugins"][-1]["mkdocstrings"]["handlers"]["python"]["paths"] = [str(ROOT)]
    settings |= {"docs_dir": str(source), "site_dir": str(site / "pages"), "repo_url": address}
    (site / "mkdocs.yml").write_text(yaml.safe_dump(settings, sort_keys=False), encoding="utf-8")

    # 3. the build, without -q, with which --strict would ignore warnings. The warning about version 2 is turned off,
    # since version 1.6 is pinned
    command = [sys.executable, "-m", "mkdocs", "build", "--strict", "-f", str(site / "mkdocs.yml")]
    environment = {**os.environ, "NO_MKDOCS_2_WARNING": "1"}
    return subprocess.run(command, check=False, env=environment).returncode


def copy_pages(folder: Path, address: str | None = None) -> None:
    """Copy the pages, and every file that one of them links to.

    address: the URL of the repository, with which "In a clone of this repository:" becomes a command.
    """
    pages = [page for pattern in PAGES for page in ROOT.glob(pattern)]
    for page in pages:
        # 1. files that the page links to, except other pages
        text = page.read_text(encoding="utf-8")
        for link in LINK.findall(text):
            file = (page.parent / link).resolve()
            if file.is_file() and file.suffix not in (".md", ".ipynb"):
                shutil.copyfile(file, _make_copy_path(file, folder))

        # 2. the page itself, in Markdown
        copy = _make_copy_path(page.with_suffix(".md"), folder)
        is_notebook = page.suffix == ".ipynb"
        text = convert_notebook(text, copy) if is_notebook else text.replace(".ipynb)", ".md)")
        if address:
            text = text.replace(
                "In a clone of this repository:", f"Clone it (`git clone {address} nmt && cd nmt`), then:"
            )
        copy.write_text(text, encoding="utf-8")


def _make_copy_path(file: Path, folder: Path) -> Path:
    """Return the path of a file's copy, and make the folder of the copy."""
    copy = folder / file.relative_to(ROOT)
    copy.parent.mkdir(parents=True, exist_ok=True)
    return copy


def convert_notebook(notebook: str, page: Path) -> str:
    """Return a notebook as Markdown, and write its pictures into the folder of `page`."""
    blocks = []
    for cell_number, cell in enumerate(json.loads(notebook)["cells"]):
        source = "".join(cell["source"])
        is_text = cell["cell_type"] == "markdown"
        blocks.append(source if is_text else f"```python\n{source}\n```")

        # outputs of code: text and pictures
        for output_number, output in enumerate(cell.get("outputs", [])):
            text = "".join(output.get("text", ""))
            if text:
                blocks.append(f"```text\n{text}```")
            picture = output.get("data", {}).get("image/png")
            if picture:
                name = f"{page.stem}-{cell_number}-{output_number}.png"
                (page.parent / name).write_bytes(base64.b64decode(picture))
                blocks.append(f"![What this code draws]({name})")
    return "\n\n".join(blocks) + "\n"


def write_gallery(results_folders: Sequence[Path], folder: Path) -> None:
    """Write a page with headline, pages and Figure 2 of each finished experiment. Copy the pages and figures."""
    folder.mkdir(parents=True)
    lines = ["# Gallery", "", "Pages of finished experiments (`make demo`). They need no server.", ""]
    for results in results_folders:
        if not (results / "report.html").is_file():
            continue
        experiment = results.parent.name
        (folder / experiment).mkdir()
        headline = (results / "headline.txt").read_text(encoding="utf-8")
        lines += [f"## {experiment}", "", headline, ""]

        # links to its pages, and its figure
        for file, link in GALLERY_FILES.items():
            if (results / file).is_file():
                shutil.copyfile(results / file, folder / experiment / file)
                lines += [f"{link}({experiment}/{file})", ""]
    (folder / "index.md").write_text("\n".join(lines), encoding="utf-8")


def write_library(folder: Path) -> list[dict[str, str]]:
    """Write a page per package of the library and of the pipeline. Return their entries in the navigation."""
    folder.mkdir()
    entries = []
    for path in sorted([*ROOT.glob("nmt/*"), *ROOT.glob("pipeline/*")]):
        is_package = (path / "__init__.py").is_file()
        if path.stem.startswith("_") or (path.suffix != ".py" and not is_package):
            continue
        package = ".".join(path.relative_to(ROOT).with_suffix("").parts)  # such as nmt.model
        # mkdocstrings replaces the line with ::: by the docstrings of the package
        text = f"# {package}\n\n::: {package}\n    options: {{show_submodules: true}}\n"
        (folder / f"{package}.md").write_text(text, encoding="utf-8")
        entries.append({package: f"library/{package}.md"})
    return entries


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
