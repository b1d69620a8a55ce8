"""The jobs of an experiment in the queue of a Slurm cluster, as squeue lists them."""

import re
from pathlib import Path

from nmt.io.system import query_program

SUBMISSIONS = Path(".snakemake") / "slurm_sent"
"""The jobs that were submitted from the folder of an experiment, written by slurm/bin/sbatch: name, number, time."""
TRAINING_COMMENT = re.compile(r"rule_train(?:_on_phrases)?_wildcards_(?P<run>\S+)")


def find_submitted_trainings(folder: Path) -> dict[str, str]:
    """Return what squeue says of each run whose training is in the queue: "Slurm's job 18 is PENDING (Priority)".

    Return {} if no job was submitted from this folder, or Slurm does not answer.
    """
    try:
        lines = (folder / SUBMISSIONS).read_text(encoding="utf-8").splitlines()
    except OSError:
        return {}
    # the second word of a line is the number of the job; a line may be incomplete
    submitted_numbers = {line.split()[1] for line in lines if len(line.split()) == 3}

    answer = query_program("squeue", "--all", "--me", "--noheader", "--format=%i|%T|%r|%k")
    if answer is None:
        return {}

    descriptions = {}
    for line in answer.splitlines():
        # such as 18|PENDING|Priority|rule_train_wildcards_rnnsearch-50 ...
        fields = line.split("|", 3)
        if len(fields) < 4:
            continue
        number, state, reason, comment = fields
        match = TRAINING_COMMENT.match(comment)
        if match and number in submitted_numbers:
            reason_text = "" if reason == "None" else f" ({reason})"
            descriptions[match["run"]] = f"Slurm's job {number} is {state}{reason_text}"
    return descriptions
