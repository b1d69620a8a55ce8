"""The settings of jobs as small files, which are inputs of the rules.

Snakemake compares the content of such a file with its content when an output was made. If it has no records, as in a
copied run, it compares dates: the file of a changed setting is newer than the outputs. Dates do not show that a job
reads other files than before, if these are older than its outputs: the text of another test set, for example. If there
are no records and the choice of inputs has changed, all files are therefore written again, so that every job runs.
"""

import atexit
import json
import time
from collections.abc import Mapping
from contextlib import ExitStack
from pathlib import Path
from typing import Any

from pydantic import BaseModel

from nmt.errors import UserError
from nmt.io.files import write_text
from nmt.io.locks import hold_folder

INPUT_CHOICE = Path("settings/input_choice.json")
"""The settings that decide which files the jobs read."""
HAS_RECORDS = Path(".snakemake/has_records")
"""An empty file. If it exists, an output of which Snakemake has no record is older than the settings files."""
RUN_LOCK = Path(".snakemake/run")
"""Folder of the lock that a Snakemake holds as long as it lives."""
SNAKEMAKE_LOGS = Path(".snakemake/log")
"""Folder of the logs of all runs. The newest is as new as the outputs of the last run."""
WAIT_SECONDS = 3.0
"""Time to wait for another Snakemake, which may only plan and end soon."""


class SettingsFiles:
    """The files in `settings/` of the working directory. They are written by the Snakemake that a person calls.

    Its jobs on a cluster read them as they are, so an edit of config.yaml during the run does not change the run. A
    second Snakemake does not write them while the first one lives.
    """

    def __init__(self) -> None:
        self.texts: dict[Path, str] = {}
        """The content of each file."""
        self.run_lock = ExitStack()
        self.has_run_lock = False

    def add(self, name: str, values: BaseModel | Mapping[str, Any]) -> str:
        """Add a file with these values, which `write` will write. Return its path."""
        path = Path("settings") / f"{name}.json"
        plain_values = values.model_dump(mode="json") if isinstance(values, BaseModel) else values
        self.texts[path] = json.dumps(plain_values, sort_keys=True, indent=2, ensure_ascii=False) + "\n"
        return str(path)

    def add_caption(self, name: str, caption: str) -> str:
        """Add a file with a caption of Snakemake's report, which `write` will write. Return its absolute path."""
        path = Path(".snakemake") / "captions" / f"{name.replace('/', '-')}.rst"
        self.texts[path] = f"{caption}\n"
        return str(path.absolute())

    def write(self) -> None:
        """Take the lock of the run, and write the files whose content has changed.

        If another Snakemake has the lock, nothing is written.

        Raises:
            UserError: the clock was set back, so changed settings would be older than the outputs.
        """
        deadline = time.monotonic() + WAIT_SECONDS
        while not self.has_run_lock:
            try:
                # The path is absolute, since Snakemake has left the working directory when the lock is released.
                self.run_lock.enter_context(hold_folder(RUN_LOCK.absolute(), "refuse"))
                self.has_run_lock = True
                # The lock is released before Python shuts down. Later the heartbeat's thread, a daemon, no longer
                # runs, and Python 3.13 would wait forever for its end.
                atexit.register(self.run_lock.close)
            except UserError:
                if time.monotonic() > deadline:
                    return
                time.sleep(0.2)

        # the time of the last run, after which the files must be written
        log_times = [(log.stat().st_mtime, log) for log in SNAKEMAKE_LOGS.glob("*")]
        last_time, last_log = max(log_times, default=(0.0, SNAKEMAKE_LOGS))

        changed_paths = []
        for path, text in self.texts.items():
            if not path.is_file() or path.read_text(encoding="utf-8") != text:
                changed_paths.append(path)
        if INPUT_CHOICE in changed_paths and not HAS_RECORDS.exists():
            # The choice of inputs is written last. If this is killed before, the next call writes all files again.
            changed_paths = [path for path in self.texts if path != INPUT_CHOICE] + [INPUT_CHOICE]

        for path in changed_paths:
            write_text(path, self.texts[path])
            if path.stat().st_mtime < last_time:
                path.unlink()
                raise UserError(
                    f"{last_log}: from the future, so Snakemake would not notice changed settings: set the clock of"
                    " this machine; if it is right, call `find . -newermt now -exec touch {} +`"
                )
        if INPUT_CHOICE in changed_paths:
            HAS_RECORDS.touch()

    def require_run_lock(self) -> None:
        """Raise a UserError if another Snakemake is at work in this folder."""
        if not self.has_run_lock:
            raise UserError(f"{Path.cwd()}: another run is active here: wait for it, or end it")
