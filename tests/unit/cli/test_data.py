"""The data subcommands as a stranger calls them: by hand, with files."""

from __future__ import annotations

from pathlib import Path

from nmt.data.bitext import Bitext
from nmt.io.text_files import read_lines
from tests.running import nmt

ENGLISH = ["The dog's here.", "Only here", "Yes, of course!", "The dog sleeps."]
FRENCH = ["Le chien est là.", "", "Oui, bien sûr !", "L'homme dort."]


def done(folder: Path, line: str) -> None:
    """Run a subcommand in the folder."""
    result = nmt(*line.split(), cwd=folder)
    assert result.returncode == 0, result.stderr


def tokens(folder: Path) -> None:
    for language, lines in (("en", ENGLISH), ("fr", FRENCH)):
        (folder / f"a.{language}").write_text("\n".join(lines) + "\n")
        done(folder, f"data tokenize --language {language} --settings {{}} a.{language} t.{language}.zst")


def test_from_text_to_bitext(tmp_path: Path) -> None:
    tokens(tmp_path)
    assert [*read_lines(tmp_path / "t.en.zst")][:2] == ["The dog &apos;s here .", "Only here"]
    for language in ("en", "fr"):
        done(tmp_path, f"data vocabulary --words 20 t.{language}.zst --output {language}.tsv")
    vocabularies = "--source-vocabulary en.tsv --target-vocabulary fr.tsv"
    done(tmp_path, f"data binarize --text t.en.zst t.fr.zst {vocabularies} --shuffle-seed 1 --output binary")
    assert len(Bitext.open(tmp_path / "binary")) == 3
