"""The replication package: what tables and figures are made of, kept in `results/`, so that no GPU is needed again.

Of each run the translations of both columns of Table 1 with what made them, summary, settings and history; source and
reference of the test text; where its word alignments are known these and the attention held against them; the settings.
Equal files give equal bytes.
"""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from nmt.decoding import sidecar
from nmt.errors import UserError
from nmt.io.files import atomic_path
from nmt.io.text_files import read_lines, write_lines

MODES = ("all", "no_unk")
SETS = ("test", "dev")
_DROPPED = ("n_best",)
_FOLDERS = ("translations/", "test/", "dev/", "alignments/", "perplexity/", "runs/", "papers/")
_FILES = ("config.json",)


@dataclass(frozen=True)
class ReplicationPackage:
    """Where the files of a replication package lie in a results folder."""

    folder: Path

    @property
    def configuration(self) -> Path:
        """The merged settings."""
        return self.folder / "config.json"

    def paper(self, name: str) -> Path:
        """A paper's tables and what it reports."""
        return self.folder / "papers" / f"{name}.yaml"

    def test(self, language: str) -> Path:
        """One side of the tokenized test text."""
        return self.folder / "test" / f"{language}.txt.gz"

    def dev(self, language: str) -> Path:
        """One side of the tokenized development text, where it is translated."""
        return self.folder / "dev" / f"{language}.txt.gz"

    def vocabulary(self, language: str) -> Path:
        """The words of a language by rank, where a figure sorts sentences by them."""
        return self.folder / "test" / f"{language}.words.tsv.gz"

    def raw_reference(self, language: str) -> Path:
        """The reference as it came, before tokenization."""
        return self.folder / "test" / f"{language}.raw.txt.gz"

    @property
    def gold(self) -> Path:
        """Known word alignments of the test text."""
        return self.folder / "test" / "gold.align.gz"

    def alignments(self, run: str) -> Path:
        """A run's attention while it is made to write the reference."""
        return self.folder / "alignments" / f"{run}.jsonl.gz"

    def perplexity(self, system: str) -> Path:
        """A system's perplexity on the test set, where a table shows it."""
        return self.folder / "perplexity" / f"{system}.json"

    def given(self, system: str, set_: str = "test") -> Path:
        """Translations of a set by another system, as they were given."""
        return self._translated(set_) / f"{system}.txt.gz"

    def translations(self, run: str, mode: str, set_: str = "test") -> Path:
        """A run's translations of a set: of all sentences, or of those without unknown words."""
        return self._translated(set_) / f"{run}.{mode}.jsonl.gz"

    def making(self, run: str, mode: str, set_: str = "test") -> Path:
        """What made a run's translations."""
        return sidecar.beside(self.translations(run, mode, set_))

    def sets(self, run: str) -> list[str]:
        """The sets of which a run's translations are kept."""
        return [set_ for set_ in SETS if self.translations(run, MODES[0], set_).is_file()]

    def _translated(self, set_: str) -> Path:
        folder = self.folder / "translations"
        return folder if set_ == "test" else folder / set_

    def of_run(self, run: str, name: str) -> Path:
        """One of the `RECORDS` of a model's folder."""
        return self.folder / "runs" / run / name


def is_part(name: str) -> bool:
    """Whether a file of the results, by its name in them, belongs to the package that the others are made of."""
    return name.startswith(_FOLDERS) or name in _FILES


def keep_translations(source: Path, target: Path, attention: bool) -> None:
    """Copy translations without their n-best lists, and without attention unless it is wanted; and what made them.

    Raises a `UserError` where that is missing or of other translations.
    """
    sidecar.refuse_other(source)
    keep_file(sidecar.beside(source), sidecar.beside(target))
    dropped = _DROPPED if attention else (*_DROPPED, "alignment")
    with write_lines(target) as writer:
        for value in _objects(source):
            kept = {key: value[key] for key in value if key not in dropped}
            writer.write(json.dumps(kept, ensure_ascii=False))


def _objects(path: Path) -> Iterator[dict[str, object]]:
    for number, line in enumerate(read_lines(path), start=1):
        try:
            value = json.loads(line)
        except json.JSONDecodeError as error:
            raise UserError(f"{path}, line {number}: not JSON: {error.msg}; make the file again") from None
        if not isinstance(value, dict):
            raise UserError(f"{path}, line {number}: expected an object; make the file again")
        yield value


def keep_lines(source: Path, target: Path) -> None:
    """Copy lines of text, compressed as the names say."""
    with write_lines(target) as writer:
        for line in read_lines(source):
            writer.write(line)


def keep_file(source: Path, target: Path) -> None:
    """Copy a file as it is."""
    if not source.is_file():
        raise UserError(f"{source}: no such file; make it again")
    with atomic_path(target) as temporary:
        shutil.copyfile(source, temporary)
