"""The replication package in `results/`: all inputs of tables and figures, which are made from it without a GPU.

It has the settings; the source and reference of the test text; gold alignments, and the attention compared with them;
and for each run the translations of both columns of Table 1 with their provenance, the summary, the settings and the
history. Equal inputs give equal bytes.
"""

import json
import stat
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from nmt.errors import UserError, errors_as_user_error
from nmt.evaluation.translations import check_unaltered, provenance_path, read_provenance, sha256_of_lines
from nmt.io.files import copy_file, write_json
from nmt.io.text_files import open_lines, read_lines, write_lines

MODES = ("all", "no_unk")
"""The columns of Table 1: all sentences, and the sentences without unknown words."""
_DROPPED_KEYS = ("n_best", "word_log_probabilities")
"""Fields of translations that no table needs, so that a package does not have them."""
_FOLDERS = (
    "translations/", "test/", "dev/", "training_text/", "alignments/", "perplexity/", "vectors/", "runs/",
)  # fmt: skip
_FILES = ("config.json", "corpora.json")
"""Folders and files of a results folder that make up the package."""
MAX_BYTES, MAX_LINES = 1 << 30, 1_000_000
"""Maximum bytes and lines of a whole package of somebody else, decompressed."""
MAX_JSON_BYTES = 1 << 24
"""Maximum size of a JSON file of somebody else. A byte of JSON may become 30 bytes in memory."""


@dataclass(frozen=True)
class ReplicationPackage:
    """The paths of the files of a replication package in a results folder.

    set_name: `test` or `dev`, the set that is translated. mode: the column of Table 1, `all` or `no_unk`.
    """

    folder: Path

    @property
    def configuration(self) -> Path:
        """The merged settings."""
        return self.folder / "config.json"

    @property
    def corpus_counts(self) -> Path:
        """The counts of the corpora; pretrained models come without them."""
        return self.folder / "corpora.json"

    def text(self, set_name: str, language: str) -> Path:
        """Return one side of the tokenized text of a set."""
        return self.folder / set_name / f"{language}.txt.gz"

    def vocabulary(self, language: str) -> Path:
        """Return the words of a language by rank."""
        return self.folder / "training_text" / f"{language}.vocabulary.tsv.gz"

    def bitext_meta(self, split: str) -> Path:
        """Return the settings and checksums of the binarized training (`train`) or development text (`dev`)."""
        return self.folder / "training_text" / f"{split}.json"

    def raw_reference(self, language: str) -> Path:
        """Return the reference before tokenization."""
        return self.folder / "test" / f"{language}.raw.txt.gz"

    @property
    def gold_alignments(self) -> Path:
        """The gold alignments of the test text."""
        return self.folder / "test" / "gold.align.gz"

    def alignments(self, run: str) -> Path:
        """Return a run's attention in forced decoding of the reference."""
        return self.folder / "alignments" / f"{run}.jsonl.gz"

    def perplexity(self, system: str) -> Path:
        """Return a system's perplexity on the test set, if a table shows it."""
        return self.folder / "perplexity" / f"{system}.json"

    @property
    def vectors(self) -> Path:
        """The coordinates of sentences in the plane of their vectors, if a figure shows them."""
        return self.folder / "vectors" / "sentences.tsv"

    def plain_text_translations(self, set_name: str, system: str) -> Path:
        """Return the translations of a set by a system that has only their text, one per line."""
        return self.folder / "translations" / set_name / f"{system}.txt.gz"

    def translations(self, set_name: str, run: str, mode: str) -> Path:
        """Return a run's translations of a set: of all sentences, or of those without unknown words."""
        return self.folder / "translations" / set_name / f"{run}.{mode}.jsonl.gz"

    def run_file(self, run: str, name: str) -> Path:
        """Return a file of the folder of a run's model, such as summary.json."""
        return self.folder / "runs" / run / name


def belongs_to_package(name: str) -> bool:
    """Return whether a file, by its path in the folder of results, is an input of tables and figures."""
    return name.startswith(_FOLDERS) or name in _FILES


def copy_into_package(source: Path, copy: Path, keep_attention: bool = False) -> None:
    """Copy a file into a package. Translations are shortened by `_copy_translations`, other texts are compressed."""
    # such as rnnsearch-30.all.jsonl.gz
    if copy.name.removesuffix(".gz").endswith((".all.jsonl", ".no_unk.jsonl")):
        _copy_translations(source, copy, keep_attention)
    elif copy.suffix == ".gz":
        with write_lines(copy) as writer:
            for line in read_lines(source):
                writer.write(line)
    else:
        copy_file(source, copy)


def _copy_translations(source: Path, target: Path, keep_attention: bool) -> None:
    """Copy translations and their provenance, without n-best lists and, unless requested, without attention.

    Raises:
        UserError: the provenance file is missing, or belongs to other translations.
    """
    check_unaltered(source)
    dropped_keys = set(_DROPPED_KEYS)
    if not keep_attention:
        dropped_keys.add("alignment")
    with write_lines(target) as writer:
        for line in read_lines(source):
            fields = json.loads(line)
            for key in dropped_keys & fields.keys():
                del fields[key]
            writer.write(json.dumps(fields, ensure_ascii=False))
    provenance = read_provenance(source) | {"lines": sha256_of_lines(target)}
    write_json(provenance_path(target), provenance)


# --- a package of somebody else ---------------------------------------------------------------------------------------


def list_files(folder: Path) -> tuple[set[str], list[str]]:
    """Return the names of the plain files, and a line for each link and special file.

    If there are none of these, the lines are about files that are too large. Links are not followed.
    """
    # the path of a file in a thousand folders is too long for the system
    with errors_as_user_error(folder, remedy="expected fewer levels of folders"):
        paths = sorted(folder.rglob("*"))
    files = set()
    problems = []
    for path in paths:
        mode = path.lstat().st_mode
        if stat.S_ISREG(mode):
            files.add(path.relative_to(folder).as_posix())
        elif not stat.S_ISDIR(mode):
            problems.append(f"{path}: a link or special file; remove it: only plain files are read")
    return files, problems or list(_find_large_files(folder, files))


def _find_large_files(folder: Path, files: set[str]) -> Iterator[str]:
    """Yield a line if a package is too large to be read. Its compressed files may be small."""
    byte_count = line_count = 0
    for name in sorted(files):
        path = folder / name
        if name.endswith(".json"):
            if path.stat().st_size > MAX_JSON_BYTES:
                yield f"{path}: more than {MAX_JSON_BYTES:,} bytes of JSON; too large to be read"
                return
        elif belongs_to_package(name):
            # a damaged file is reported by the code that reads it
            with suppress(UserError), open_lines(path) as lines:
                for line in lines:
                    byte_count += len(line)
                    line_count += 1
                    if byte_count > MAX_BYTES or line_count > MAX_LINES:
                        limit = f"{MAX_LINES:,} lines or {MAX_BYTES:,} bytes"
                        yield f"{path}: the package has more than {limit}, decompressed; too large to be read"
                        return
