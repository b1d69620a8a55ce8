"""Write `numbers` again, from a run of GroundHog: `.venv/bin/python -m tests.groundhog.renew_numbers`."""

import json
import tempfile
from pathlib import Path

import numpy as np

from tests.authors_numbers import MODELS, NUMBERS
from tests.groundhog.authors_code import ADDRESS, COMMIT, PACKAGES, prepare, run_program


def keep_numbers(folder: Path) -> None:
    """Copy the numbers from the folder of a run, with what made them: the commit, and the versions of packages."""
    made_by = json.dumps({"code": ADDRESS, "commit": COMMIT, "packages": PACKAGES, "python": "3.11"})
    NUMBERS.mkdir(exist_ok=True)
    for model_type, output_layer in MODELS:
        name = f"{model_type}-{output_layer}.npz"
        with np.load(folder / name) as file:
            np.savez_compressed(NUMBERS / name, **file, made_by=np.array(made_by))


if __name__ == "__main__":
    prepare()
    with tempfile.TemporaryDirectory() as run_folder:
        for model_type in dict(MODELS):
            run_program("models.py", "numbers", model_type, run_folder)
        keep_numbers(Path(run_folder))
