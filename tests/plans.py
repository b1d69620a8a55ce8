"""What Snakemake plans for each experiment: a dry-run is made once in a run of pytest, whichever process asks first."""

import json
import os
import re
import shutil
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from filelock import FileLock

from nmt.io.files import write_json
from pipeline.config.experiment import get_final_stage, list_shards
from pipeline.config.job_settings import get_bitext_settings
from pipeline.config.layers import find_layers, load_config
from tests.experiments import EXTENDS_PAPER
from tests.running import ROOT, scheduled, snakemake

FEW_SHARDS = "corpora={europarl-v7: {shards: 1}, un-2000: {shards: 1}, giga-fren: {shards: 1}}"
"""The largest corpora in one shard each: hundreds of jobs fewer."""


@dataclass(frozen=True)
class Asked:
    """A dry-run: an experiment of the checkout, a file laid over it, and single keys."""

    experiment: str = ""
    overlay: str = ""
    pairs: tuple[str, ...] = ()
    options: tuple[str, ...] = ()
    settings: str = field(default="", repr=False)


ENSEMBLE = """
use: {models: [rnnencdec-50, rnnsearch-50], systems: [five, wide], rescored: [mixed, best]}
models: {rnnsearch-50: {label: "RNN {50}", seeds: [1, 2]}}
systems:
  five: {label: Five, members: [rnnsearch-50, rnnsearch-50.seed-2], decoding: {beam: 2}}
  wide: {label: Wide, members: [rnnencdec-50], decoding: {beam: 12}}
artifacts: {figure2_models: [rnnsearch-50], figure3_model: rnnsearch-50}
rescored:
  mixed: {label: Mixed, n_best_list: wide, members: [rnnsearch-50, rnnsearch-50.seed-2], weight: 0.25}
  best: {label: Best, n_best_list: moses}
n_best_lists: {moses: moses.nbest.gz}
sentence_vectors: {model: rnnencdec-50, panels: [[John admires Mary, Mary admires John, "It 's", "{braces}"]]}
"""
EXPERIMENTS = sorted(file.parent.name for file in (ROOT / "experiments").glob("*/config.yaml"))
PLANS = {
    "paper": Asked(),
    **{name: Asked(name) for name in EXPERIMENTS},
    "ablations-europarl": Asked(
        "ablations-europarl", pairs=("moses={enabled: true, lm_corpora: [europarl-v7]}",)
    ),
    **{f"{name}/moses": Asked(name, "moses.yaml") for name in ("multi30k", "overnight", "sutskever2014")},
    "cho2014b/moses": Asked("cho2014b-demo", "moses.yaml"),
    "paper/seeds": Asked(pairs=("seed=7", "seeds=[1,2]", FEW_SHARDS)),
    "paper/moses": Asked(
        pairs=("moses={enabled: true}", FEW_SHARDS), options=("--cores", "3", "--profile", "slurm")
    ),
    "paper/ensemble": Asked(pairs=(FEW_SHARDS,), settings=ENSEMBLE),
}


@dataclass(frozen=True)
class Plan:
    """A dry-run as Snakemake prints it, shell lines included."""

    text: str

    def settings(self, file: str) -> dict[str, Any]:
        """The settings on the command line of the job that makes a file."""
        (option,) = re.findall(r"--settings '([^']+)'", self.making(file))
        values: dict[str, Any] = json.loads(option)
        return values

    def jobs(self, rule: str) -> list[str]:
        """The jobs of a rule."""
        return scheduled(self.text, rule)

    def making(self, file: str) -> str:
        """The one job that makes a file: its inputs, outputs, resources and shell line."""
        blocks = re.split(r"\n *\[", self.text)
        (job,) = [
            block for block in blocks if re.search(rf"\n *output: (.+, )?{re.escape(file)}[,\n]", block)
        ]
        return job

    def inputs(self, file: str) -> set[str]:
        """What the job that makes a file reads."""
        found = re.search(r"\n *input: (.+)\n", self.making(file))
        return set(found[1].split(", ")) if found else set()

    @property
    def trained(self) -> dict[str, str]:
        """The jobs that train models, by their runs."""
        return {job.split("wildcards: run=")[1].split()[0]: job for job in self.jobs("train")}

    def lines(self, words: str) -> list[str]:
        """Shell lines with these words."""
        return [line for line in self.text.split("\n") if words in line]


def stand_ins(other: Path, experiment: Path) -> None:
    """Files for the prepared text of another experiment: empty, but with the settings that are compared."""
    config = load_config(find_layers(experiment))
    names = ["source.ids.npy", "source.offsets.npy", "target.ids.npy", "target.offsets.npy", "meta.json"]
    files = [f"data/binary/{part}/{name}" for part in ("train", "dev") for name in names]
    files += ["data/vocabulary/en.tsv", "data/vocabulary/fr.tsv", "data/corpora.json"]
    for shard in list_shards(config, [*config.use.train, *config.use.dev, *config.use.test]):
        for stage in {get_final_stage(config), "tokens", "raw"}:
            files += [f"data/{stage}/{shard}.{side}.zst" for side in ("en", "fr", "align")]
    for file in files:
        (other / file).parent.mkdir(parents=True, exist_ok=True)
        (other / file).touch()
    for split in ("train", "dev"):
        write_json(other / f"data/binary/{split}/meta.json", {"settings": get_bitext_settings(config, split)})


def lay_out(folder: Path, asked: Asked) -> Path:
    """The experiments' settings in folders like the checkout's, and text where another experiment's is read."""
    for file in (ROOT / "experiments").glob("*/*.yaml"):
        copy = folder / file.relative_to(ROOT)
        copy.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(file, copy)
    experiment = folder / "experiments" / (asked.experiment or "like the paper")
    if not asked.experiment:
        experiment.mkdir()
        (experiment / "config.yaml").write_text(EXTENDS_PAPER + asked.settings, encoding="utf-8")
        (experiment / "moses.nbest.gz").touch()
    text = (experiment / "config.yaml").read_text(encoding="utf-8")
    if other := re.search(r"^data_from: (\S+)", text, flags=re.MULTILINE):
        stand_ins(experiment / other[1], ROOT / "experiments" / asked.experiment)
    return experiment


def shared_folder(factory: pytest.TempPathFactory) -> Path:
    """A folder that all processes of a run of pytest have in common."""
    base = factory.getbasetemp()
    return base.parent if os.environ.get("PYTEST_XDIST_WORKER") else base


class Plans:
    """The plans of this run of pytest, by their names in PLANS."""

    def __init__(self, factory: pytest.TempPathFactory) -> None:
        self.folder = shared_folder(factory) / "plans"
        self.folder.mkdir(exist_ok=True)
        self.get = cache(self._get)

    def __getitem__(self, name: str) -> Plan:
        return self.get(name)

    def _get(self, name: str) -> Plan:
        place = self.folder / name.replace("/", "-")
        with FileLock(f"{place}.lock"):
            if not place.with_suffix(".txt").exists():
                place.with_suffix(".txt").write_text(dry_run(place, PLANS[name]), encoding="utf-8")
        return Plan(place.with_suffix(".txt").read_text(encoding="utf-8"))


def dry_run(folder: Path, asked: Asked) -> str:
    """What a dry-run says, in which imports that would take seconds of each call of Snakemake fail."""
    experiment = lay_out(folder, asked)
    for name in ("torch", "matplotlib"):
        (folder / f"{name}.py").write_text(f"raise ImportError('the rules load {name}')\n", encoding="utf-8")
    options = ["--configfile", str(experiment / asked.overlay)] if asked.overlay else []
    options += ["--config", *asked.pairs] if asked.pairs else []
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PYTHONPATH", str(folder))
        result = snakemake(experiment, "-n", "-p", *asked.options, *options)
    assert result.returncode == 0, result.stdout
    return result.stdout
