"""What Snakemake does not document is where this project asks for it: a new version that moves it fails by name."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

from tests.running import ROOT, run
from workflow import internals

SNAKEFILE = f"""
import json, sys
sys.path.insert(0, {str(ROOT)!r})
from workflow import internals

def held(ask, thing, names):
    found = {{}}
    for name in names:
        try:
            ask(thing, name)
            found[name] = ""
        except AttributeError as error:
            found[name] = str(error)
    return found

localrules: one

rule one:
    output: "one.txt"
    log: "one.log"
    shell: f"export {{internals.LOG}}; touch {{{{output}}}}; echo $NMT_LOG 2>&1 | tee -i {{{{log:q}}}}"

onstart:
    job = next(iter(internals.of(workflow, "jobs")))
    (listed,) = internals.job_list(None, workflow).jobs
    assert (listed.rule, listed.log, listed.due, listed.local) == ("one", "one.log", True, True)
    assert internals.status_command(workflow) is None and not internals.submits_jobs(workflow)
    internals.limit(workflow, "gpu", 1)
    found = held(internals.of, workflow, internals.OF_WORKFLOW) | held(internals.of_job, job, internals.OF_JOB)
    open("found.json", "w").write(json.dumps(found))
"""


@pytest.fixture(scope="module")
def found(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """What a running Snakemake lacks, by name; and the log that a job knows itself by."""
    folder: Path = tmp_path_factory.mktemp("workflow")
    (folder / "Snakefile").write_text(SNAKEFILE, encoding="utf-8")
    command = [sys.executable, "-m", "snakemake", "--cores", "1", "--directory", str(folder)]
    result = run([*command, "-s", str(folder / "Snakefile")])
    assert result.returncode == 0, result.stdout
    lacking: dict[str, str] = json.loads((folder / "found.json").read_text("utf-8"))
    return lacking | {"log": (folder / "one.log").read_text("utf-8").strip()}


@pytest.mark.parametrize("name", [*internals.OF_WORKFLOW, *internals.OF_JOB])
def test_snakemake_still_has_it(found: dict[str, str], name: str) -> None:
    assert not found[name]


def test_a_job_knows_its_log(found: dict[str, str]) -> None:
    assert found["log"] == "one.log"
