"""The replication package in `results/`: the inputs of tables and figures, from which they are made without a GPU.

It has the settings; the source and reference of the test text; known word alignments, and the attention compared with
them; and for each run the translations of both columns of Table 1 with the record of how they were made, the summary,
the settings and the history. Equal inputs give equal bytes.
"""

from __future__ import annotations

import json
import shutil
from dataclasses import dataclass
from pathlib import Path

from nmt.evaluation.translations import check_unaltered, provenance_path, read_provenance, sha256_of_lines
from nmt.io.files import atomic_path, write_json
from nmt.io.text_files import read_lines, write_lines

MODES = ("all", "no_unk")
_DROPPED = ("n_best", "word_log_probabilities")
_FOLDERS = (
    "translations/", "test/", "dev/", "training_text/", "alignments/", "perplexity/", "vectors/", "runs/", "papers/",
)  # fmt: skip
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

    def text(self, set_name: str, language: str) -> Path:
        """Return one side of the tokenized text of a set that is translated (`test` or `dev`)."""
        return self.folder / set_name / f"{language}.txt.gz"

    def vocabulary(self, language: str) -> Path:
        """Return the words of a language by rank."""
        return self.folder / "training_text" / f"{language}.vocabulary.tsv.gz"

    def text_checksums(self, part: str) -> Path:
        """Return the checksums of the binarized training or development text."""
        return self.folder / "training_text" / f"{part}.json"

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

    def other_translations(self, set_name: str, system: str) -> Path:
        """Return the translations of a set by a system other than a model, one per line."""
        return self.folder / "translations" / set_name / f"{system}.txt.gz"

    def translations(self, set_name: str, run: str, mode: str) -> Path:
        """Return a run's translations of a set: of all sentences, or of those without unknown words."""
        return self.folder / "translations" / set_name / f"{run}.{mode}.jsonl.gz"

    def provenance(self, set_name: str, run: str, mode: str) -> Path:
        """Return the record of how a run's translations were made."""
        return provenance_path(self.translations(set_name, run, mode))

    def run_file(self, run: str, name: str) -> Path:
        """Return one of the `RECORDS` of a model's folder."""
        return self.folder / "runs" / run / name


def belongs_to_package(name: str) -> bool:
    """Return whether a file of the results, by its name in them, belongs to the package that the others are made of."""
    return name.startswith(_FOLDERS) or name in _FILES


def copy_into_package(source: Path, copy: Path, attention: bool = False) -> None:
    """Copy a file into a package: translations by `copy_translations`, other lines compressed, the rest as it is."""
    if copy.name.endswith(tuple(f".{mode}.jsonl.gz" for mode in MODES)):
        copy_translations(source, copy, attention)
    elif copy.suffix == ".gz":
        with write_lines(copy) as writer:
            for line in read_lines(source):
                writer.write(line)
    else:
        with atomic_path(copy) as temporary:
            shutil.copyfile(source, temporary)


def copy_translations(source: Path, target: Path, attention: bool = False) -> None:
    """Copy translations and the record of how they were made: no n-best lists, attention only if wanted.

    Raises a `UserError` where the record is missing or of other translations.
    """
    check_unaltered(source)
    dropped = _DROPPED if attention else (*_DROPPED, "alignment")
    with write_lines(target) as writer:
        for line in read_lines(source):
            fields = {key: value for key, value in json.loads(line).items() if key not in dropped}
            writer.write(json.dumps(fields, ensure_ascii=False))
    record = read_provenance(source) | {"lines": sha256_of_lines(target)}
    write_json(provenance_path(target), record)
