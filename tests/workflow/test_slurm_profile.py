"""What jobs ask a cluster for, as a dry-run with the profile shows it."""

import re

import pytest

from tests.plans import Plans
from tests.running import ROOT, scheduled, snakemake

PROFILE = ROOT / "slurm" / "config.yaml"


def read_resources(output: str, rule: str) -> list[dict[str, str]]:
    """Resources of a rule's jobs, with the model's name where there is one."""
    found = []
    for job in scheduled(output, rule):
        resources = dict(re.findall(r"(\w+)=([^,\n]*)", job.split("resources:")[1].split("\n")[0]))
        model = re.search(r"wildcards: (?:run|system)=([^,\n]+)", job)
        found.append(resources | ({"model": model[1]} if model else {}))
    return found


@pytest.fixture
def paper(plans: Plans) -> str:
    """The paper's run with the profile."""
    return plans["paper/moses"].text


def test_resources_of_training(paper):
    jobs = {job["model"]: job for job in read_resources(paper, "train")}
    assert len(jobs) == 5
    assert {job["gpu"] for job in jobs.values()} == {"1"}
    assert {job["mem_mb"] for job in jobs.values()} == {"32000"}
    nice = {model: job["slurm_extra"] for model, job in jobs.items()}
    assert (nice.pop("rnnsearch-50"), nice.pop("rnnsearch-50-star")) == ("--nice=0", "--nice=10")
    assert set(nice.values()) == {"--nice=20"}
    urgent = {
        re.findall(r"run=([^,\n]+)", job)[0]: int(re.findall(r"priority: (\d+)", job)[0])
        for job in scheduled(paper, "train")
    }
    assert (urgent.pop("rnnsearch-50"), urgent.pop("rnnsearch-50-star")) == (3, 2)
    assert set(urgent.values()) == {1}


@pytest.mark.parametrize("device", ["auto", "cpu"])
def test_partition_gpu_and_account_of_jobs(tmp_path, device):
    """Jobs that need no GPU do not go to its partition."""
    profile = tmp_path / "mine"
    profile.mkdir()
    text = PROFILE.read_text(encoding="utf-8")
    for key, value in {"slurm_account": "us", "slurm_partition": "small", "gpu_model": "h200"}.items():
        text = text.replace(f'{key}: ""', f"{key}: {value}", 1)
    text = text.replace('slurm_partition: ""', "slurm_partition: large", 1)
    assert '""' not in text
    (profile / "config.yaml").write_text(text, encoding="utf-8")
    devices = [f"{block}={{device: {device}}}" for block in ("training", "decoding")]
    result = snakemake(tmp_path, "-n", "--profile", str(profile), "--config", *devices)
    with_gpu = "small" if device == "cpu" else "large"
    for rule, partition in {
        "train": with_gpu,
        "translate": with_gpu,
        "align": with_gpu,
        "prepare": "small",
    }.items():
        jobs = read_resources(result.stdout, rule)
        assert jobs or rule == "align", result.stdout
        for job in jobs:
            assert (job["slurm_account"], job["slurm_partition"]) == ("us", partition)
            assert job.get("gpu_model") == ("h200" if partition == "large" else None)
