"""The jobs of an experiment in the queue of a Slurm cluster, as squeue lists them."""

import re
from pathlib import Path

from nmt.io.system import query_program

SUBMISSIONS = Path(".snakemake") / "slurm_sent"
"""The jobs that were submitted from the folder of an experiment, written by slurm/bin/sbatch: name, number, time."""
TRAINING_COMMENT = re.compile(r"rule_train_wildcards_(?P<run>\S+)")


def find_submitted_trainings(folder: Path) -> dict[str, str]:
    """Return what squeue says of each run whose training is in the queue: "Slurm's job 18 is PENDING (Priority)".

    It is empty if no job was submitted from this folder, or Slurm does not answer.
    """
    try:
        lines = (folder / SUBMISSIONS).read_text(encoding="utf-8").splitlines()
    except OSError:
        return {}
    submitted_numbers = {line.split()[1] for line in lines if len(line.split()) == 3}

    descriptions = {}
    answer = query_program("squeue", "--me", "--noheader", "--format=%i|%T|%r|%k") or ""
    for line in answer.splitlines():
        number, state, reason, comment = (line.split("|", 3) + [""] * 3)[:4]
        match = TRAINING_COMMENT.match(comment)
        if match and number in submitted_numbers:
            reason = "" if reason == "None" else f" ({reason})"
            descriptions[match["run"]] = f"Slurm's job {number} is {state}{reason}"
    return descriptions
