"""What Snakemake does not check of the rules: names that files share, settings that change, resources of each."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
import yaml

from tests.running import ROOT

RULES = sorted((ROOT / "workflow" / "rules").glob("*.smk"))


def test_no_rule_file_takes_a_name_of_another() -> None:
    """They share one namespace, in which the last one would win."""
    named: dict[str, Path] = {}
    for file in RULES:
        text = file.read_text(encoding="utf-8")
        names = re.findall(r"^([A-Z][A-Z_0-9]*) = ", text, flags=re.MULTILINE)
        for imported in re.findall(r"^from [\w.]+ import (.+)$", text, flags=re.MULTILINE):
            names += re.findall(r"\w+", imported)
        for name in set(names):
            assert named.setdefault(name, file) == file, (name, file.name, named[name].name)


UNNOTICED = "options.other_sources"
"""A parameter of which a change is not to be noticed."""


@pytest.mark.parametrize("file", RULES, ids=lambda file: file.name)
def test_a_changed_setting_is_noticed(file: Path) -> None:
    """Snakemake records nothing of a parameter that is made from inputs, so a setting needs one of its own."""
    text = file.read_text(encoding="utf-8")
    for params in re.findall(r"^ +params:\n(.*?)\n *(?:shell|\Z)", text, flags=re.MULTILINE | re.DOTALL):
        for value in re.split(r"^ +\w+=", params, flags=re.MULTILINE):
            if value.startswith("lambda wildcards, input") and "CONFIG" in value:
                assert UNNOTICED in value, value


def rules() -> dict[str, str]:
    """Every rule's text by its name."""
    texts = [file.read_text(encoding="utf-8") for file in RULES]
    texts = [text.replace("**LONG_JOB", "mem_mb=, runtime=") for text in texts]
    found = [rule for text in texts for rule in re.split(r"^ *rule ", text, flags=re.MULTILINE)[1:]]
    own = {rule.partition(":")[0]: rule for rule in found}
    taken = re.findall(r"^ *use rule (\w+) as (\w+) with:", "".join(texts), flags=re.MULTILINE)
    return own | {name: own[other] for other, name in taken}


def test_every_rule_says_what_it_does_and_what_a_job_of_it_needs() -> None:
    parts = ('"""', "output:", "mem_mb=", "runtime=")
    lacking = [(name, part) for name, rule in rules().items() for part in parts if part not in rule]
    assert not [
        (name, part) for name, part in lacking if "localrule: True" not in rules()[name] or "=" not in part
    ]


def test_what_needs_the_network_runs_where_snakemake_runs() -> None:
    here = {name for name, rule in rules().items() if "localrule: True" in rule}
    assert {"download", "kenlm_programs", "moses_programs"} <= here
    assert not here & {"prepare", "language_model", "score_pairs", "train", "moses_align"}


def test_every_rule_with_a_gpu_has_the_gpu_s_partition_and_shares_the_cores_of_several_gpus() -> None:
    with_gpu = {name: rule for name, rule in rules().items() if "gpu=" in rule}
    profile = yaml.safe_load((ROOT / "slurm" / "config.yaml").read_text(encoding="utf-8"))
    assert set(profile["set-resources"]) == set(with_gpu) > {"train", "perplexity", "vectors", "rescore"}
    for rule in with_gpu.values():
        assert "threads: cores_of(" in rule or "threads: lambda wildcards: cores_of(" in rule
        assert ("_hours" in rule) == ("time_setting=" in rule or "training_minutes" in rule)
