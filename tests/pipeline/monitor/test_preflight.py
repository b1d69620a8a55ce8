"""What long work needs is looked at before it starts: archives on real servers, disk, hours, a cluster's partitions."""

from __future__ import annotations

import errno
import json
import os
import sys
import threading
from collections import namedtuple
from collections.abc import Iterator
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from nmt.model import gpu_pool
from pipeline.config.catalogue import Archive
from pipeline.config.schema import Config
from pipeline.download.sources import unreachable
from pipeline.monitor import preflight
from pipeline.monitor.forecast import SETTINGS, longest_chain, training_times
from pipeline.monitor.jobs import Job, JobList
from pipeline.monitor.preflight import Work, forecast, missing
from pipeline.monitor.time_limits import expected_rate
from tests.experiments import paper
from tests.messages import check
from tests.running import run, slurm_of

NOTHING = Work(frozenset(), (), ())


class Server(SimpleHTTPRequestHandler):
    """Serves a folder, in silence, and keeps what it was asked."""

    asked: list[str]

    def log_message(self, format: str, *args: Any) -> None:
        self.asked.append(self.requestline)


@pytest.fixture
def served(tmp_path: Path) -> Iterator[tuple[Path, str, list[str]]]:
    """A folder, the address of a server of it on loopback, and the list of requests."""
    folder, asked = tmp_path / "served", []  # type: tuple[Path, list[str]]
    folder.mkdir()

    def handler(*args: Any) -> Server:
        Server.asked = asked
        return Server(*args, directory=str(folder))

    server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield folder, f"http://127.0.0.1:{server.server_port}", asked
    server.shutdown()
    server.server_close()


def archive(url: str) -> Archive:
    return Archive(url=url, path="wmt/a b.tgz")


def test_an_archive_is_asked_for_by_its_head_alone(served: tuple[Path, str, list[str]]) -> None:
    folder, address, asked = served
    wanted = archive(f"{address}/a.tgz")
    (line,) = unreachable([wanted], [])
    check(line)
    (folder / "a.tgz").write_bytes(b"whole")
    assert unreachable([wanted], []) == []
    assert {request.split()[0] for request in asked} == {"HEAD"}


def test_offline_is_no_problem_where_a_mirror_has_the_archive(
    served: tuple[Path, str, list[str]], tmp_path: Path
) -> None:
    folder, address, _ = served
    offline = archive("http://127.0.0.1:9/a.tgz")
    (line,) = unreachable([offline], [str(tmp_path / "mirror"), address])
    check(line)
    (folder / "wmt").mkdir()
    (folder / "wmt" / "a b.tgz").write_bytes(b"whole")
    assert unreachable([offline], [address]) == []
    assert unreachable([offline], [str(folder)]) == []
    assert unreachable([archive(f"file://{folder}/wmt/a%20b.tgz")], []) == []
    other = {"url": "http://127.0.0.1:9/b.tgz", "path": "b.tgz"}
    second = Archive.model_validate({**offline.model_dump(), "alternatives": [other]})
    (folder / "wmt" / "a b.tgz").rename(folder / "b.tgz")
    assert unreachable([second], [address]) == []


def test_a_mirror_that_cannot_be_read_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def stale(path: Path) -> bool:
        raise OSError(errno.ESTALE, os.strerror(errno.ESTALE))

    monkeypatch.setattr(Path, "is_file", stale)
    (line,) = unreachable([archive("http://127.0.0.1:9/a.tgz")], [str(tmp_path)])
    check(line)


def download(config: Config, name: str, due: bool = True) -> Job:
    path = config.archives[name].path
    return Job("download", {"archive": path}, (), (path,), f"logs/download/{path}.log", due, True, {})


def test_only_what_is_due_is_looked_at(tmp_path: Path) -> None:
    config = paper(tmp_path)
    assert missing(config, NOTHING, tmp_path) == []
    train = Job("train", {"model": "rnnsearch-30"}, (), ("model",), "logs/train/x.log", True, False, {})
    jobs = (download(config, "giga-fren"), download(config, "un-2000", due=False), train)
    assert Work.of_jobs(JobList(config, jobs)) == Work(
        frozenset({"download", "train"}), ("rnnsearch-30",), ("giga-fren",)
    )


@pytest.mark.parametrize(("rule", "due"), [("perplexity", True), ("vectors", True), ("perplexity", False)])
def test_a_gpu_that_any_rule_asks_for_is_looked_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, rule: str, due: bool
) -> None:
    monkeypatch.setattr(gpu_pool, "in_sight", lambda: [])
    config = paper(tmp_path, decoding={"device": "cuda"})
    job = Job(rule, {}, (), ("a",), f"logs/{rule}/a.log", due, False, {"gpu": 1})
    assert (
        any(
            "no NVIDIA GPU" in line
            for line in missing(config, Work.of_jobs(JobList(config, (job,))), tmp_path)
        )
        == due
    )


def test_disk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    config = paper(tmp_path)
    work = Work(frozenset({"download"}), (), ("europarl-v7",))
    usage = namedtuple("usage", "total used free")
    monkeypatch.setattr(preflight.shutil, "disk_usage", lambda _: usage(0, 0, 10**9))
    (line,) = [line for line in missing(config, work, tmp_path) if "free" in line]
    check(line)
    monkeypatch.setattr(preflight.shutil, "disk_usage", lambda _: usage(0, 0, 10**12))
    assert not [line for line in missing(config, work, tmp_path) if "free" in line]


def test_lmplz_is_on_the_path_or_can_be_built(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    work = Work(frozenset({"kenlm_programs", "language_model"}), (), ())
    (line,) = missing(paper(tmp_path), work, tmp_path)
    check(line)
    assert (
        missing(paper(tmp_path), Work(frozenset({"language_model"}), (), ()), tmp_path) == []
    )  # built before
    for name in ("lmplz", "build_binary", "query"):
        (tmp_path / name).write_text("#!/bin/sh\n", encoding="utf-8")
        (tmp_path / name).chmod(0o755)
    assert missing(paper(tmp_path), work, tmp_path) == []


def test_hours_come_from_a_run_that_was_measured_else_from_the_settings(tmp_path: Path) -> None:
    config = paper(tmp_path)
    runs = list(config.use.models)
    times = {time.run: time for time in training_times(config, tmp_path, runs)}
    assert {time.source for time in times.values()} == {SETTINGS}
    assert times["rnnencdec-50"].hours == pytest.approx(600_000 / expected_rate(config, "rnnencdec-50"))
    assert times["rnnsearch-50-star"].updates == 667_000 - 288_000  # it continues from the other's 288,000
    chain = times["rnnsearch-50"].hours + times["rnnsearch-50-star"].hours
    assert longest_chain(config, list(times.values())) == pytest.approx(chain)

    history = tmp_path / "state" / "rnnsearch-50" / "history.jsonl"
    history.parent.mkdir(parents=True)
    lines = [{"update": u, "train_nll": 1.0, "seconds": u / 10} for u in (1000, 2000)]
    history.write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")
    times = {time.run: time for time in training_times(config, tmp_path, runs)}
    assert times["rnnsearch-50"].hours == pytest.approx(286_000 / 36_000)
    assert times["rnnsearch-50-star"].source == "rnnsearch-50"
    assert times["rnnsearch-30"].source == SETTINGS  # its sentences are shorter
    (training, *_) = forecast(config, Work(frozenset({"train"}), tuple(runs), ()), tmp_path)
    assert f"an estimate from {SETTINGS} for rnnencdec-30, rnnsearch-30, rnnencdec-50)" in training


@pytest.fixture
def sinfo(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A cluster whose sinfo says this of its nodes."""
    programs = slurm_of(tmp_path, "cpu* 12:00:00 200000 (null)", "gpu 2-00:00:00 500000 gpu:h200:8")
    monkeypatch.setenv("PATH", f"{programs}:/usr/bin:/bin")


@pytest.mark.usefixtures("sinfo")
def test_partitions_are_asked_for_what_the_settings_make_of_jobs(tmp_path: Path) -> None:
    (tmp_path / "config.yaml").touch()
    command = [sys.executable, "-m", "nmt", "preflight", str(tmp_path), "--partition", "cpu"]
    command += ["--config", "use={train: [europarl-v7]}", "--config", "mirrors=[/nowhere]"]
    slow = [*command, "--config", "resources={gpu_teraflops: 1}", "--gpu-partition", "gpu"]
    lines = run(slow).stdout.replace("nmt: error: ", "").splitlines()
    check("\n".join(line for line in lines if "partition" in line))
    assert not [line for line in lines if "translate" in line]
    lines = run(
        [*command, "--config", "resources={gpu_teraflops: 1, train_hours: 48}", "--gpu-partition", "gpu"]
    ).stdout.splitlines()
    assert not [line for line in lines if "train:" in line]


def test_the_command_says_what_is_missing(tmp_path: Path) -> None:
    (tmp_path / "config.yaml").touch()
    gone = run([sys.executable, "-m", "nmt", "preflight", str(tmp_path), "--config", "mirrors=[/nowhere]"])
    assert gone.returncode == 2
    assert "no source gives it (/nowhere/wmt13/training-parallel-europarl-v7.tgz: no such file" in gone.stdout
    assert "Traceback" not in gone.stdout
