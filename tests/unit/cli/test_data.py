"""The data subcommands as people call them, with files."""

from __future__ import annotations

from pathlib import Path

from nmt.data.bitext import Bitext
from nmt.io.text_files import read_lines
from tests.running import nmt

ENGLISH = ["The dog's here.", "Only here", "Yes, of course!", "The dog sleeps."]
FRENCH = ["Le chien est là.", "", "Oui, bien sûr !", "L'homme dort."]


def test_data_subcommands_make_a_bitext(tmp_path: Path) -> None:
    def run(line: str) -> None:
        result = nmt(*line.split(), cwd=tmp_path)
        assert result.returncode == 0, result.stderr

    for language, lines in (("en", ENGLISH), ("fr", FRENCH)):
        (tmp_path / f"a.{language}").write_text("\n".join(lines) + "\n")
        run(f"data tokenize --language {language} --settings {{}} a.{language} t.{language}.zst")
        run(f"data vocabulary --words 20 t.{language}.zst --output {language}.tsv")
    assert [*read_lines(tmp_path / "t.en.zst")][:2] == ["The dog &apos;s here .", "Only here"]
    vocabularies = "--source-vocabulary en.tsv --target-vocabulary fr.tsv"
    run(f"data binarize --text t.en.zst t.fr.zst {vocabularies} --shuffle-seed 1 --output binary")
    assert len(Bitext.open(tmp_path / "binary")) == 3
