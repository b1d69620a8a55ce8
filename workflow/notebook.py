"""Run a notebook in its folder and store it with its outputs, without times: equal results give equal bytes.

Usage: python -m workflow.notebook NOTEBOOK
"""

from __future__ import annotations

import sys
from pathlib import Path

import nbformat
from nbclient import NotebookClient

from nmt.io.files import atomic_path


def main(path: Path) -> None:
    """Run the notebook and store it. The error of nbclient names the cell that fails."""
    notebook = nbformat.read(path, as_version=4)  # type: ignore[no-untyped-call]
    resources = {"metadata": {"path": str(path.parent)}}
    NotebookClient(notebook, timeout=600, record_timing=False, resources=resources).execute()
    notebook.metadata.language_info = {"name": "python"}
    with atomic_path(path) as temporary:
        nbformat.write(notebook, temporary)  # type: ignore[no-untyped-call]


if __name__ == "__main__":
    main(Path(sys.argv[1]))
