"""Run in GroundHog's environment: the authors' preparation of a text.

    python text.py FOLDER

FOLDER: has `source` and `target`, a text of one sentence a line. Written into it: the vocabularies and ids as JSON, and
the HDF5 files of the shuffled text.
"""

import json
import os
import pickle
import runpy
import sys
from pathlib import Path

import numpy
import tables

PREPROCESSING = Path(os.environ["PYTHONPATH"]) / "experiments" / "nmt" / "preprocess"
VOCABULARY_SIZE = 19

# names that PyTables has dropped
tables.File.createEArray, tables.File.createTable = tables.File.create_earray, tables.File.create_table


def run_script(name, *arguments):
    """Run one of the authors' scripts, as from a shell."""
    sys.argv = [name, *arguments]
    runpy.run_path(str(PREPROCESSING / name), run_name="__main__")


def main(folder):
    os.chdir(folder)
    numpy.random.seed(1)
    for side in ("source", "target"):
        run_script(
            "preprocess.py",
            "-d",
            f"{side}.vocabulary",
            "-b",
            f"{side}.ids",
            "-v",
            str(VOCABULARY_SIZE),
            "-p",
            side,
        )
        run_script("convert-pkl2hdf5.py", f"{side}.ids", f"{side}.h5")
        for name in ("vocabulary", "ids"):
            content = pickle.loads(Path(f"{side}.{name}").read_bytes())
            Path(f"{side}.{name}.json").write_text(json.dumps(content))
    outputs = "shuffled.source.h5", "shuffled.target.h5"
    run_script("shuffle-hdf5.py", "source.h5", "target.h5", *outputs)
    for side, name in zip(("source", "target"), outputs, strict=True):
        with tables.open_file(name) as file:
            words, indices = file.root.phrases[:], file.root.indices[:]
        sentences = [words[row["pos"] : row["pos"] + row["length"]].tolist() for row in indices]
        Path(f"shuffled.{side}.json").write_text(json.dumps(sentences))


if __name__ == "__main__":
    main(Path(sys.argv[1]))
