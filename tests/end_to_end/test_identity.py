"""Whatever is changed, set back, deleted or killed: tables are of the settings, and nothing is trained twice.

One finished run of seconds is changed step by step. After each step its tables are those of its settings, `nmt verify`
agrees, and the store tells how many trainings there have been.
"""

import gzip
import os
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path

import yaml

from tests.end_to_end.conftest import kill_once
from tests.running import make_demo, nmt, scheduled, snakemake, snakemake_command

USE = """
use: {models: [rnnencdec-30, rnnsearch-30]}
artifacts:
  figure2_models: [rnnencdec-30, rnnsearch-30]
  figure3_model: rnnsearch-30
  table3_models: [rnnencdec-30, rnnsearch-30]
  bootstrap_samples: 50
"""
RENAMED = """
use: {models: [mine, rnnsearch-30]}
models: {mine: {label: Mine, model_type: rnnencdec, max_words: 30, training: {updates: 10, decay_from_epoch: 1}}}
artifacts: {figure2_models: [mine, rnnsearch-30], table3_models: [mine, rnnsearch-30]}
"""
ONE_MODEL = """
use: {models: [rnnsearch-30]}
artifacts: {figure2_models: [rnnsearch-30], figure3_model: rnnsearch-30, table3_models: [rnnsearch-30]}
"""
OTHER_TEST = "use: {test: [other-test]}\ncorpora: {other-test: {grammar: {split: test, pairs: 20}}}\n"


@dataclass
class TinyRun:
    """A run in a folder, and how many trainings it has made."""

    folder: Path

    def call(self, *options: str, settings: str = "", target: str = "all") -> str:
        """Call plain snakemake with these options, and settings in YAML; return what it says."""
        result = self.try_call(*options, settings=settings, target=target)
        assert result.returncode == 0, result.stdout[-4000:]
        return result.stdout

    def try_call(
        self, *options: str, settings: str = "", target: str = "all"
    ) -> subprocess.CompletedProcess[str]:
        """Call plain snakemake, which may fail."""
        files = [str(self.folder / "tiny.yaml"), str(self.folder / "use.yaml")]
        if settings:
            (self.folder / "more.yaml").write_text(settings, encoding="utf-8")
            files.append(str(self.folder / "more.yaml"))
        return snakemake(self.folder, *options, "--cores", "2", "--configfile", *files, "--", target)

    def finish(self, settings: str = "") -> None:
        """Run to the end; then nothing is left to do, and the results verify."""
        self.call(settings=settings)
        assert "Nothing to be done" in self.call("-n", settings=settings)
        verified = nmt("verify", self.folder / "results")
        assert verified.returncode == 0, verified.stdout

    @property
    def trainings(self) -> int:
        """Trainings that have ended."""
        return len([*self.folder.glob("store/trainings/*/finished-*/summary.json")])

    @property
    def tables(self) -> dict[str, bytes]:
        """The tables without hours, which differ between trainings of one model."""
        names = ("table1.csv", "table3.csv", "significance.csv")
        return {name: (self.folder / "results" / name).read_bytes() for name in names}


def test_every_means_of_losing_or_mixing_results(tmp_path):
    folder = tmp_path / "tiny"
    make_demo(folder)
    (folder / "use.yaml").write_text(USE, encoding="utf-8")
    run = TinyRun(folder)
    run.finish()
    first = run.tables
    assert run.trainings == 2

    # --- a job on a cluster has the settings of its Snakemake, whatever config.yaml says now
    vocabulary = folder / "data" / "vocabulary" / "fr.tsv"
    text = vocabulary.read_bytes()
    job = ["--mode", "remote", "--force", "--nolock", "--cores", "1"]
    job += ["--target-jobs", "vocabulary:language=fr", "--allowed-rules", "vocabulary"]
    assert snakemake(folder, *job).returncode == 0
    assert vocabulary.read_bytes() == text
    run.finish()

    # --- a file of the user's, and an older one in its place
    moses = tmp_path / "moses.txt"
    moses.write_bytes(gzip.decompress((folder / "results" / "test" / "fr.txt.gz").read_bytes()))
    settings = f"artifacts: {{moses_translations: {moses}}}"
    run.finish(settings)
    moses.write_text("x\n" * len(moses.read_bytes().splitlines()), encoding="utf-8")
    os.utime(moses, (1e9, 1e9))
    assert scheduled(run.call("-n", settings=settings), "bleu_of_text")

    # --- settings changed and set back
    tables = {}
    for settings, trained in {
        "vocabulary: {words: 200}": 2,
        "training: {learning_rate: 0.01}": 2,
        "models: {rnnsearch-30: {training: {updates: 5}}}": 1,  # fewer than are done
        "models: {rnnsearch-30: {training: {updates: 15}}}": 1,
        "decoding: {beam: 3}": 0,
        "seeds: [1, 2]": 2,
        "seeds: [2]": 0,
        RENAMED: 0,
        ONE_MODEL: 0,
        OTHER_TEST: 0,
        "artifacts: {bootstrap_samples: 60}": 0,
    }.items():
        before = run.trainings
        run.finish(settings)
        assert run.trainings == before + trained, settings
        tables[settings] = run.tables
    before = run.trainings
    run.finish()
    assert (run.tables, run.trainings) == (first, before)

    # --- options and dates
    def call(*options):
        return lambda: run.call(*options)

    steps = {
        "force all": call("--forceall"),
        "force training": call("-R", "train"),
        "delete all output": call("--delete-all-output"),
        "until": call("--until", "translate", "-R", "translate"),
        "omit": call("--omit-from", "translate", "-R", "train"),
        "batch": call("--batch", "all=1/2"),
        "touch": call("--touch"),
        "no models": lambda: shutil.rmtree(folder / "models"),
        "no records": lambda: shutil.rmtree(folder / ".snakemake"),
    }
    for name, step in steps.items():
        step()
        run.finish()
        assert (run.tables, run.trainings) == (first, before), name

    # --- two experiments on one text
    other = TinyRun(tmp_path / "other")
    shutil.copytree(
        folder, other.folder, ignore=lambda _, names: set(names) - {"config.yaml", "tiny.yaml", "use.yaml"}
    )
    with (other.folder / "config.yaml").open("a", encoding="utf-8") as file:
        file.write("\ndata_from: ../tiny\n")
    other.finish()
    assert (other.tables, other.trainings) == (first, 0)
    # the other experiment has not changed the times of this one's files, of which Snakemake reads small ones, too
    assert "Nothing to be done" in run.call("-n", "--max-checksum-file-size", "0")

    # --- other settings in a copy without records are refused, whatever is called
    copied = TinyRun(shutil.copytree(folder, tmp_path / "copy", ignore=shutil.ignore_patterns(".snakemake")))
    copied.finish()
    for settings in ("vocabulary: {words: 150}", OTHER_TEST, "decoding: {beam: 3}"):
        for options in (("-n",), ()):
            refused = copied.try_call(*options, settings=settings)
            assert refused.returncode == 2 and ".snakemake/" in refused.stdout, settings
    # with the store alone, nothing is trained again
    for path in copied.folder.iterdir():
        if path.name not in ("config.yaml", "tiny.yaml", "use.yaml", "store"):
            shutil.rmtree(path) if path.is_dir() else path.unlink()
    copied.finish()
    assert (copied.tables, copied.trainings) == (first, before)
    run.call("--forceall")  # makes records anew, since a step above has removed them
    run.finish("vocabulary: {words: 150}")
    assert run.trainings == before + 2
    other.finish("vocabulary: {words: 150}")
    assert (other.tables, other.trainings) == (run.tables, 0)

    # --- killed in the middle
    shutil.rmtree(folder / "store")
    files = ["--configfile", str(folder / "tiny.yaml"), str(folder / "use.yaml")]
    kill_once(
        lambda: any(folder.glob("store/trainings/*/checkpoint-*")),
        snakemake_command(folder, "--cores", "2", "-R", "train", "--keep-incomplete", *files),
    )
    run.call("--unlock")
    run.finish()
    assert (run.tables, run.trainings) == (first, 2)


def test_touched_text_of_other_settings_makes_no_tables(tmp_path):
    """`--touch` says that all is of the settings. The package knows better."""
    make_demo(tmp_path)
    (tmp_path / "use.yaml").write_text(USE, encoding="utf-8")
    run = TinyRun(tmp_path)
    run.finish()
    run.call("--touch", settings="vocabulary: {words: 200}")
    files = [str(tmp_path / name) for name in ("tiny.yaml", "use.yaml", "more.yaml")]
    result = snakemake(tmp_path, "-R", "package_results", "--cores", "2", "--configfile", *files)
    assert result.returncode != 0 and "config.json: made with different settings" in result.stdout


def test_another_text_under_an_older_date_is_another_training(tmp_path):
    make_demo(tmp_path)
    corpus = {side: {"file": f"train.{side}"} for side in ("source", "target")}
    settings = {"corpora": {"mine": corpus}, "use": {"train": ["mine"], "models": ["rnnsearch-30"]}}
    (tmp_path / "use.yaml").write_text(
        yaml.safe_dump(settings) + ONE_MODEL.split("\n", 2)[2], encoding="utf-8"
    )
    run = TinyRun(tmp_path)
    for count, date in ((180, 1.7e9), (90, 1e9)):
        for side in corpus:
            lines = [f"{'abc'[number % 3]} {side} {number // 3}\n" for number in range(count)]
            (tmp_path / f"train.{side}").write_text("".join(lines), encoding="utf-8")
            os.utime(tmp_path / f"train.{side}", (date, date))
        run.call(target="models")
    assert run.trainings == 2
