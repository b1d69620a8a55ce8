"""The replication package in `results/`: the inputs of tables and figures, from which they are made without a GPU.

It has the settings; the source and reference of the test text; known word alignments, and the attention compared with
them; and for each run the translations of both columns of Table 1, the record of their making, summary, settings and
history. Equal inputs give equal bytes.
"""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from nmt.decoding import sidecar
from nmt.errors import UserError
from nmt.evaluation.translations import sum_of_lines
from nmt.io.files import atomic_path, write_json
from nmt.io.text_files import read_lines, write_lines

MODES = ("all", "no_unk")
SETS = ("test", "dev")
_DROPPED = ("n_best", "tokens", "word_log_probabilities")
_FOLDERS = ("translations/", "test/", "dev/", "alignments/", "perplexity/", "vectors/", "runs/", "papers/")
_FILES = ("config.json", "corpora.json")


@dataclass(frozen=True)
class ReplicationPackage:
    """The paths of a replication package in a results folder."""

    folder: Path

    @property
    def configuration(self) -> Path:
        """Return the merged settings."""
        return self.folder / "config.json"

    @property
    def counts(self) -> Path:
        """Return the counts of the corpora; none where the models were released by others."""
        return self.folder / "corpora.json"

    def paper(self, name: str) -> Path:
        """Return a paper's tables and what it reports."""
        return self.folder / "papers" / f"{name}.yaml"

    def test(self, language: str) -> Path:
        """Return one side of the tokenized test text."""
        return self.folder / "test" / f"{language}.txt.gz"

    def dev(self, language: str) -> Path:
        """Return one side of the tokenized development text, where it is translated."""
        return self.folder / "dev" / f"{language}.txt.gz"

    def text(self, language: str, set_: str) -> Path:
        """Return one side of the tokenized text of a set."""
        return self.test(language) if set_ == "test" else self.dev(language)

    def vocabulary(self, language: str) -> Path:
        """Return the words of a language by rank, where a figure sorts sentences by them."""
        return self.folder / "test" / f"{language}.words.tsv.gz"

    def raw_reference(self, language: str) -> Path:
        """Return the reference as it came, before tokenization."""
        return self.folder / "test" / f"{language}.raw.txt.gz"

    @property
    def gold(self) -> Path:
        """Return the path of known word alignments of the test text."""
        return self.folder / "test" / "gold.align.gz"

    def alignments(self, run: str) -> Path:
        """Return a run's attention while it is made to write the reference."""
        return self.folder / "alignments" / f"{run}.jsonl.gz"

    def perplexity(self, system: str) -> Path:
        """Return a system's perplexity on the test set, where a table shows it."""
        return self.folder / "perplexity" / f"{system}.json"

    @property
    def vectors(self) -> Path:
        """Return sentences in the plane of their vectors, where a figure shows them."""
        return self.folder / "vectors" / "sentences.tsv"

    def given(self, system: str, set_: str = "test") -> Path:
        """Return translations of a set by another system, as they were given."""
        return self._translated(set_) / f"{system}.txt.gz"

    def translations(self, run: str, mode: str, set_: str = "test") -> Path:
        """Return a run's translations of a set: of all sentences, or of those without unknown words."""
        return self._translated(set_) / f"{run}.{mode}.jsonl.gz"

    def making(self, run: str, mode: str, set_: str = "test") -> Path:
        """Return what made a run's translations."""
        return sidecar.record_path(self.translations(run, mode, set_))

    def sets(self, run: str) -> list[str]:
        """Return the sets of which a run's translations are kept."""
        return [set_ for set_ in SETS if self.translations(run, MODES[0], set_).is_file()]

    def _translated(self, set_: str) -> Path:
        folder = self.folder / "translations"
        return folder if set_ == "test" else folder / set_

    def of_run(self, run: str, name: str) -> Path:
        """Return one of the `RECORDS` of a model's folder."""
        return self.folder / "runs" / run / name


def is_part(name: str) -> bool:
    """Return whether a file of the results, by its name in them, belongs to the package that the others are made of."""
    return name.startswith(_FOLDERS) or name in _FILES


def keep_attention(source: Path, target: Path) -> None:
    """Copy translations with their attention, as `keep_translations` does."""
    keep_translations(source, target, attention=True)


def keep_translations(source: Path, target: Path, attention: bool = False) -> None:
    """Copy translations and the record of their making: no n-best lists and tokens, and attention only if it is wanted.

    Raises a `UserError` where that is missing or of other translations.
    """
    sidecar.refuse_other(source)
    making = sidecar.read(source)
    dropped = _DROPPED if attention else (*_DROPPED, "alignment")
    with write_lines(target) as writer:
        for value in _objects(source):
            fields = {key: value[key] for key in value if key not in dropped}
            writer.write(json.dumps(fields, ensure_ascii=False))
    if "lines" in making:  # which a version without sums did not write
        making["lines"] = sum_of_lines(target)
    write_json(sidecar.record_path(target), making)


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
