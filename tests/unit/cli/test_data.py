"""The data subcommands as a stranger calls them: by hand, with files."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from nmt.cli import subcommands
from nmt.data.bitext import Bitext
from nmt.io.text_files import read_lines
from tests import kenlm

PACKAGE = Path(__file__).parents[3]
DATA_SUBCOMMANDS = [
    name
    for name, place in subcommands().items()
    if place.partition(":")[0] in ("nmt.cli.data", "nmt.cli.selection", "pipeline.cli.download")
]
TOKENIZATION = '{"tokenizer": "moses", "escape": true, "split_hyphens": false}'
ENGLISH = ["The dog's here.", "Only here", "Yes, of course!", "The dog sleeps."]
FRENCH = ["Le chien est là.", "", "Oui, bien sûr !", "L'homme dort."]
ARPA = """\\data\\
ngram 1=5
ngram 2=1

\\1-grams:
-99\t<s>\t0
-1\t</s>\t0
-3\t<unk>\t0
{the}\tThe\t0
{dog}\tdog\t0

\\2-grams:
-0.5\tThe dog

\\end\\
"""


def nmt(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "nmt", *arguments]
    environment = os.environ | {"PYTHONPATH": str(PACKAGE)}
    return subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, check=False)


def done(folder: Path, *arguments: str) -> None:
    result = nmt(folder, *arguments)
    assert result.returncode == 0, result.stderr


def tokens(folder: Path) -> None:
    (folder / "a.en").write_text("\n".join(ENGLISH) + "\n")
    (folder / "a.fr").write_text("\n".join(FRENCH) + "\n")
    done(
        folder,
        *("data", "extract", "--archive-source", "a.en", "--archive-target", "a.fr"),
        *("--output-source", "0.en.zst", "--output-target", "0.fr.zst", "--counts", "counts.json"),
    )
    done(
        folder,
        *("data", "clean", "--settings", "{}", "0.en.zst", "0.fr.zst", "--counts", "clean.json"),
        *("--output-source", "c.en.zst", "--output-target", "c.fr.zst"),
    )
    for language in ("en", "fr"):
        files = f"c.{language}.zst", f"t.{language}.zst"
        done(folder, "data", "tokenize", "--language", language, "--settings", TOKENIZATION, *files)


def test_from_text_to_bitext(tmp_path: Path) -> None:
    tokens(tmp_path)
    assert [*read_lines(tmp_path / "t.en.zst")][:2] == ["The dog &apos;s here .", ""]
    for language in ("en", "fr"):
        done(
            tmp_path,
            "data",
            "vocabulary",
            "--words",
            "20",
            f"t.{language}.zst",
            "--output",
            f"{language}.tsv",
        )
    done(
        tmp_path,
        *("data", "binarize", "--text", "t.en.zst", "t.fr.zst", "--output", "binary"),
        *("--source-vocabulary", "en.tsv", "--target-vocabulary", "fr.tsv", "--shuffle-seed", "1"),
    )
    assert len(Bitext.open(tmp_path / "binary")) == 3


def test_from_tokens_to_selected_pairs(tmp_path: Path) -> None:
    tokens(tmp_path)
    (tmp_path / "in.arpa").write_text(ARPA.format(the=-0.5, dog=-0.5))
    (tmp_path / "out.arpa").write_text(ARPA.format(the=-2, dog=-2))
    done(
        tmp_path,
        *("selection", "sample", "--as-many-as", "t.en.zst", "--seed", "1", "--text", "t.en.zst", "t.fr.zst"),
        *("--output-source", "out.en.zst", "--output-target", "out.fr.zst"),
    )
    assert len([*read_lines(tmp_path / "out.fr.zst")]) == 3
    done(
        tmp_path,
        *(
            "selection",
            "score",
            "--programs",
            str(kenlm.programs()),
            "--in-source",
            "in.arpa",
            "--out-source",
            "out.arpa",
            "--in-target",
            "in.arpa",
        ),
        *("--out-target", "out.arpa", "t.en.zst", "t.fr.zst", "--output", "s.npy", "--histogram", "h.json"),
    )
    done(
        tmp_path,
        *(
            "selection",
            "threshold",
            "--target-words",
            "9",
            "--corpus",
            "a",
            "1",
            "--scores",
            "s.npy",
            "h.json",
            "--output",
            "t.json",
        ),
    )
    done(
        tmp_path,
        *(
            "selection",
            "apply",
            "--threshold",
            "t.json",
            "--corpus",
            "a",
            "--shard",
            "0",
            "--scores",
            "s.npy",
        ),
        *("t.en.zst", "t.fr.zst", "--output-source", "x.en.zst", "--output-target", "x.fr.zst"),
    )
    assert [*read_lines(tmp_path / "x.fr.zst")] == ["Le chien est là .", "", "", "L&apos; homme dort ."]


@pytest.mark.parametrize("subcommand", DATA_SUBCOMMANDS)
def test_help_explains_every_option(tmp_path: Path, subcommand: str) -> None:
    result = nmt(tmp_path, *subcommand.split(), "--help")
    assert result.returncode == 0
    assert "output" in result.stdout.lower()
    usage, *options = re.split(r"\n  (?=--)", result.stdout)
    assert len(usage.split("\n\n")[1]) > 20
    for option in options:
        # name and type of value stand left of the help, apart by two spaces or on a line of their own
        assert len(re.split(r"  +", option.strip(), maxsplit=1)[-1]) > 15, option


def test_bad_input_is_one_line_and_exit_code_2(tmp_path: Path) -> None:
    (tmp_path / "a").write_text("x\ny\n")
    (tmp_path / "b").write_text("x\n")
    result = nmt(
        tmp_path,
        *("data", "clean", "--settings", "{}", "a", "b", "--output-source", "c", "--output-target", "d"),
        *("--counts", "e"),
    )
    assert result.returncode == 2
    assert result.stderr.startswith("nmt: error: a has 2 lines but b has 1 lines")
    assert result.stderr.count("\n") == 1
    assert {path.name for path in tmp_path.iterdir()} == {"a", "b"}
    typo = nmt(tmp_path, "data", "clean", "--settings", '{"max_word": 3}', "a", "b")
    assert typo.returncode == 2
    assert "Traceback" not in typo.stderr
