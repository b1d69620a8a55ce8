"""Another workflow imports this one as a module, with settings of its own, as the ecosystem's workflows do."""

import sys
from pathlib import Path

import yaml

from tests.messages import check
from tests.running import ROOT, TINY, run, scheduled

DEMO = ROOT / "experiments" / "demo" / "config.yaml"
IMPORTER = f"""
configfile: "config/mine.yaml"

module translation:
    snakefile: "{ROOT / "Snakefile"}"
    config: config["translation"]

use rule * from translation as translation_*

rule mine:
    default_target: True
    input: "data/vocabulary/en.tsv", "models/rnnsearch-30/model.safetensors"
    output: "mine.txt"
    shell: "wc -l {{input[0]}} > {{output}}"
"""


def importer(folder: Path, **settings: object) -> list[str]:
    """A workflow in a folder that imports this one with the demo's settings, and the command that runs it."""
    (folder / "config").mkdir()
    values = {**yaml.safe_load(DEMO.read_text(encoding="utf-8")), **yaml.safe_load(TINY), **settings}
    values["extends"] = str(ROOT / "experiments" / "paper")
    text = yaml.safe_dump({"translation": values, "own": 3})
    (folder / "config" / "mine.yaml").write_text(text, encoding="utf-8")
    (folder / "Snakefile").write_text(IMPORTER, encoding="utf-8")
    return [sys.executable, "-m", "snakemake", "--directory", str(folder), "-s", str(folder / "Snakefile")]


def test_rules_are_planned_for_the_importer(tmp_path):
    planned = run([*importer(tmp_path), "-n"])
    assert planned.returncode == 0, planned.stdout
    assert len(scheduled(planned.stdout, "translation_train")) == 1


def test_faulty_module_settings_are_one_line(tmp_path):
    command = importer(tmp_path, beam=5)
    result = run([*command, "-n"])
    assert result.returncode != 0
    _, line = result.stdout.splitlines()  # the first names the profile
    check(line)


def test_a_module_submits_no_jobs(tmp_path):
    """They would read its settings again, which may have changed by then."""
    result = run([*importer(tmp_path), "-n", "--cores", "1", "--resources", "cluster=1"])
    assert result.returncode == 2
    _, line = result.stdout.splitlines()  # the first names the profile
    check(line)


def test_rules_without_the_project_are_refused(tmp_path):
    command = importer(tmp_path)
    text = (tmp_path / "Snakefile").read_text(encoding="utf-8")
    fetched = text.replace(f"{ROOT}/Snakefile", f"git+file://{ROOT}/Snakefile@HEAD")
    (tmp_path / "Snakefile").write_text(fetched, encoding="utf-8")
    result = run([*command, "-n"])
    assert result.returncode != 0 and "Traceback" not in result.stdout
    (line,) = [line for line in result.stdout.splitlines() if "make setup" in line]
    check(line)
