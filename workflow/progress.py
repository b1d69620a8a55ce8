"""The progress of a run for a person: a line per stage, a few per model, and the time left of the whole run.

On a terminal a last line shows what runs at the moment; elsewhere, as in a log, a line comes at least each minute.
"""

from __future__ import annotations

import os
import shutil
import threading
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TextIO

from nmt.io import job_progress
from nmt.io.files import read_json
from nmt.io.job_progress import JobProgress
from nmt.io.progress import LOG_SECONDS, clock
from pipeline.config.runs import runs_of
from pipeline.monitor import jobs
from pipeline.monitor.forecast import hours_in_words, longest_chain, training_times
from pipeline.monitor.status import Training, label_of, training

PARTS = 4
"""A long job has a line after each of so many parts, except the last."""
SILENCE = 60.0
"""Seconds without a line, outside of a terminal, after which a running job has one."""
LEFT_SECONDS = 5.0
"""Seconds for which a forecast of the time left is shown."""
LOOKS = {True: 1.0, False: 5.0}
"""Seconds between two looks at the jobs' progress, on a terminal and elsewhere."""
HEADING = f"{'time':>8}  {'left':>9}  stage"
ERROR = "nmt: error: "
TAIL = 10
"""Lines of a failed job's log that are shown if it has no error of `nmt`."""


class RunProgress:
    """Prints the progress of a run. It is told when jobs begin and end, and reads their progress from their files.

    Args:
        folder: the experiment's.
        caller: paths are printed as seen from here.
        stream: where to.
        now: seconds of some clock.
    """

    def __init__(
        self, folder: Path, caller: Path, stream: TextIO, now: Callable[[], float] = time.monotonic
    ) -> None:
        self._folder, self._caller, self._stream, self._now = folder, caller, stream, now
        self._terminal = stream.isatty()
        self._start = now()
        self._listed: jobs.JobList | None = None
        self._jobs: dict[str, jobs.Job] = {}
        self._running: dict[str, float] = {}
        self._told: dict[str, tuple[int, float]] = {}
        self._seconds: dict[str, list[float]] = {}
        self._most_at_once = 1
        self._left: tuple[float, str] = (float("-inf"), "")
        self._said = self._start
        self._lock, self._ended = threading.RLock(), threading.Event()
        self._watch = threading.Thread(target=self._look_again, daemon=True)

    # --- what happens ---------------------------------------------------------

    def begin(self, log: str) -> None:
        """Tell that a job, identified by its log, has begun."""
        with self._lock:
            if self._listed is None:
                self._read_list()
            self._running[log] = self._now()
            self._most_at_once = max(self._most_at_once, len(self._running))
            self._told[log] = (0, self._now())
            job = self._jobs.get(log)
            if job and job.stage == "train":
                status = self._training(job)
                resumed = f"resumes after update {status.checkpoint:,}" if status.checkpoint else "begins"
                self._tell(job.stage, f"{status.label} {resumed}, {status.updates:,} updates")

    def end(self, log: str) -> None:
        """Tell that a job is done."""
        with self._lock:
            begun = self._running.pop(log, None)
            job = self._jobs.pop(log, None)
            if job is None or begun is None:
                return
            self._seconds.setdefault(job.rule, []).append(self._now() - begun)
            if job.stage == "train":
                self._tell(job.stage, self._trained(job))
            elif job.rule == "score":
                self._tell(job.stage, self._scored(job))
            elif not any(other.stage == job.stage for other in self._jobs.values()):
                self._tell(job.stage, "done")

    def fail(self, log: str) -> bool:
        """Tell that a job has failed. Return whether its log says why."""
        with self._lock:
            if self._running.pop(log, None) is None:
                return True  # said before
            job, path = self._jobs.get(log), self._folder / log
            lines = path.read_text(encoding="utf-8", errors="replace").splitlines() if path.is_file() else []
            errors = [line for line in lines if line.startswith(ERROR)]
            self.say("", f"FAILED: {job.stage if job else ''} {self._name(job) if job else log}")
            self.say(*(errors or lines[-TAIL:]), f"log: {os.path.relpath(path, self._caller)}", "")
            return bool(errors)

    def fail_together(self, logs: Sequence[str]) -> bool:
        """Tell of failed jobs that were sent as one: those whose logs say why, else the one that was last heard of.

        Returns whether a log says why.
        """
        with self._lock:
            paths = {log: self._folder / log for log in logs if (self._folder / log).is_file()}
            guilty = [log for log, path in paths.items() if ERROR in path.read_text("utf-8", "replace")]
            guilty = (
                guilty or sorted(paths, key=lambda log: paths[log].stat().st_mtime)[-1:] or list(logs[:1])
            )
            explained = [self.fail(log) for log in guilty]
            for log in logs:
                self._running.pop(log, None)
            return any(explained)

    def say(self, *lines: str) -> None:
        """Print lines as they are."""
        with self._lock:
            self._clear()
            print(*lines, sep="\n", file=self._stream, flush=True)
            self._said = self._now()

    def close(self) -> None:
        """End the thread that watches the jobs."""
        self._ended.set()
        if self._watch.is_alive():
            self._watch.join()
        self._clear()

    # --- looking --------------------------------------------------------------

    def _read_list(self) -> None:
        self._listed = jobs.read(self._folder / jobs.FILE)
        self._config = self._listed.config
        self._runs = runs_of(self._config, list(self._config.models))
        self._jobs = {job.log: job for job in self._listed.due}
        self.say(HEADING)
        self._watch.start()

    def _look_again(self) -> None:
        while not self._ended.wait(LOOKS[self._terminal]):
            with self._lock:
                self.look()

    def look(self) -> None:
        """Tell of jobs that have done another part of their work, and of one if nothing was told for long."""
        now, at_work = self._now(), []
        for log in self._running:
            job, reading = self._jobs.get(log), self._reading(log)
            if job is None:
                continue
            share = reading.count / reading.total if reading and reading.total else None
            at_work.append(f"{job.stage} {self._name(job)}" + (f" {share:.0%}" if share else ""))
            part, told = self._told[log]
            reached = int(PARTS * share) if share else 0
            if part < reached < PARTS and now - told >= LOG_SECONDS:
                self._told[log] = (reached, now)
                self._tell(job.stage, self._at_work(job, reading))
        if self._terminal:
            self._show(", ".join(at_work))
        elif now - self._said >= SILENCE:
            self._break_silence()

    def _break_silence(self) -> None:
        """Print a line about the job that had none for longest, so that jobs take turns."""
        running = [log for log in self._running if log in self._jobs]
        if not running:
            return
        log = min(running, key=lambda log: self._told[log][1])
        self._told[log] = (self._told[log][0], self._now())
        self._tell(self._jobs[log].stage, self._at_work(self._jobs[log], self._reading(log)))

    def _reading(self, log: str) -> JobProgress | None:
        return job_progress.read(job_progress.beside(self._folder / log))

    # --- words ----------------------------------------------------------------

    def _tell(self, stage: str, text: str) -> None:
        self.say(f"{clock(self._now() - self._start):>8}  {self._time_left():>9}  {stage:<10}  {text}")

    def _name(self, job: jobs.Job) -> str:
        """Return what a job works on: a model by its label and what else tells it apart, or a text."""
        if job.run not in self._runs:
            return job.name
        others = [value.strip("/") for name, value in job.wildcards.items() if name != "model"]
        return ", ".join([label_of(self._config, self._runs[job.run]), *filter(None, others)])

    def _at_work(self, job: jobs.Job, reading: JobProgress | None) -> str:
        if reading is None:
            return f"{self._name(job)} at work"
        if job.stage == "train":
            status = self._training(job)
            done, dev = status.reached.update / status.updates, status.reached.dev
            of_updates = f"{status.reached.update:,} of {status.updates:,} updates"
            nll = f", development NLL {dev.nll:.2f}" if dev and dev.nll is not None else ""
            return f"{status.label} {done:.0%}, {of_updates}{nll}"
        share = f"{reading.count / reading.total:.0%}, " if reading.total else ""
        return f"{self._name(job)} {share}{reading.count:,} {reading.unit}"

    def _trained(self, job: jobs.Job) -> str:
        """Return updates, time and development NLL of a trained model."""
        summary = read_json(self._folder / "models" / str(job.run) / "summary.json")
        took = f"{summary['updates']:,} updates in {clock(3600 * summary['hours'])}"
        return f"{self._name(job)} trained, {took}, development NLL {summary['dev_nll']:.2f}"

    def _scored(self, job: jobs.Job) -> str:
        score = read_json(self._folder / job.outputs[0])
        no_unk = score["bleu_no_unk"]
        without = "" if no_unk is None else f", {no_unk:.2f} on sentences without unknown words"
        return f"{self._name(job)} BLEU {score['bleu_all']:.2f}{without}"

    def _training(self, job: jobs.Job) -> Training:
        return training(self._config, self._folder, self._runs[str(job.run)])

    # --- time left ------------------------------------------------------------

    def _time_left(self) -> str:
        """Return the time left of the whole run in words, computed anew every few seconds."""
        at, words = self._left
        if self._now() - at >= LEFT_SECONDS and self._listed is not None:
            words = hours_in_words(self._hours_left())
            self._left = (self._now(), words)
        return words

    def _hours_left(self) -> float:
        """Return the hours left: training at measured rates, other jobs at their rule's mean time."""
        runs = [str(job.run) for job in self._jobs.values() if job.stage == "train"]
        times = training_times(self._config, self._folder, runs)
        done = [seconds for rule, known in self._seconds.items() if rule != "train" for seconds in known]
        usual = sum(done) / len(done) if done else 0.0
        rest = 0.0
        for job in self._jobs.values():
            known = self._seconds.get(job.rule, [])
            rest += 0.0 if job.stage == "train" else sum(known) / len(known) if known else usual
        all_hours = sum(time.hours for time in times) + rest / 3600
        return max(longest_chain(self._config, times), all_hours / self._most_at_once)

    # --- the terminal's last line ---------------------------------------------

    def _show(self, text: str) -> None:
        width = shutil.get_terminal_size().columns
        left = f"about {self._time_left()} left: " if text else ""
        print(f"\r\033[K{(left + text)[: width - 1]}", end="", file=self._stream, flush=True)

    def _clear(self) -> None:
        if self._terminal:
            print("\r\033[K", end="", file=self._stream, flush=True)
