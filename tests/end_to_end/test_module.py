"""Another workflow that imports this one, as docs/running.md says, makes the demo's tables in a folder of its own."""

from __future__ import annotations

import csv
import re
import subprocess
import sys
from pathlib import Path

import yaml

from pipeline.config.layers import merged, read_layer
from tests.running import ROOT, make_demo


def test_a_folder_with_settings_a_snakefile_and_a_profile_makes_the_tables(tmp_path: Path) -> None:
    overlay = make_demo(tmp_path / "demo")
    page = (ROOT / "docs" / "running.md").read_text(encoding="utf-8")
    (snakefile,) = re.findall(r"```python\n# Snakefile\n(.*?)```", page, flags=re.DOTALL)
    mine = tmp_path / "mine"
    settings = merged([read_layer(overlay.with_name("config.yaml")), read_layer(overlay)])
    models = ["rnnencdec-50", "rnnsearch-50"]
    settings["use"]["models"] = models
    settings["artifacts"] |= {"figure2_models": models, "table3_models": models}
    for name, text in {
        "Snakefile": snakefile.replace("/path/to/this/clone", str(ROOT)),
        "config/config.yaml": yaml.safe_dump(settings),
        "profile/config.yaml": "cores: 2\n",
    }.items():
        (mine / name).parent.mkdir(parents=True, exist_ok=True)
        (mine / name).write_text(text, encoding="utf-8")
    command = [sys.executable, "-m", "snakemake", "--profile", "profile", "tables"]
    made = subprocess.run(command, cwd=mine, capture_output=True, text=True, check=False)
    assert made.returncode == 0, made.stderr[-4000:]
    with (mine / "results" / "table1.csv").open(encoding="utf-8", newline="") as file:
        assert [row["id"] for row in csv.DictReader(file)] == models
    assert (mine / "results" / "table2.csv").is_file()
