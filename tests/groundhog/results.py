"""The results of GroundHog's programs, and the differences from them."""

import random
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tests.groundhog.authors_code import prepare, run_program


class Groundhog:
    """GroundHog, and the results of its runs in a folder."""

    def __init__(self, folder: Path) -> None:
        prepare()
        self.folder = folder
        self.finished: set[str] = set()
        self.compared: dict[str, float] = {}

    def make_text(self) -> Path:
        """Prepare a text of short sentences with a few frequent words, some longer than the limit."""
        if "text" in self.finished:
            return self.folder
        draw = random.Random(3)
        words = [f"w{rank}" for rank in range(30)]
        frequencies = [1 / (rank + 1) for rank in range(30)]
        sources = [draw.choices(words, frequencies, k=draw.randint(1, 11)) for _ in range(430)]
        targets = [[word.replace("w", "v") for word in source] for source in sources]
        for target in targets[::2]:
            target.insert(1, "v2")
        self.prepare_text(self.folder, sources, targets)
        self.finished.add("text")
        return self.folder

    def prepare_text(self, folder: Path, sources: list[list[str]], targets: list[list[str]]) -> None:
        """Run GroundHog's preparation of a text."""
        for side, sentences in (("source", sources), ("target", targets)):
            lines = "".join(" ".join(sentence) + "\n" for sentence in sentences)
            (folder / side).write_text(lines)
        run_program("text.py", folder)

    def run(self, part: str, model_type: str) -> Path:
        """Run a part of programs/models.py, unless this was done, and return the folder of its results."""
        if part == "training":
            self.make_text()
        if f"{part} {model_type}" not in self.finished:
            run_program("models.py", part, model_type, self.folder)
            self.finished.add(f"{part} {model_type}")
        return self.folder

    def load(self, part: str, model_type: str) -> dict[str, NDArray[Any]]:
        """Return the arrays that a part gives."""
        with np.load(self.run(part, model_type) / f"{model_type}-{part}.npz") as file:
            return dict(file)

    def check(self, what: str, difference: float, limit: float) -> None:
        """Compare a difference with its limit, and remember the largest one."""
        self.compared[what] = max(difference, self.compared.get(what, 0.0))
        assert difference < limit, what
