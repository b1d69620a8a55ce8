"""The data subcommands as a stranger calls them: by hand, with files."""

from __future__ import annotations

from pathlib import Path

from nmt.data.bitext import Bitext
from nmt.io.text_files import read_lines
from tests import kenlm
from tests.messages import check
from tests.running import nmt

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


def done(folder: Path, line: str) -> None:
    """Run a subcommand in the folder."""
    result = nmt(*line.split(), cwd=folder)
    assert result.returncode == 0, result.stderr


def tokens(folder: Path) -> None:
    (folder / "a.en").write_text("\n".join(ENGLISH) + "\n")
    (folder / "a.fr").write_text("\n".join(FRENCH) + "\n")
    sides = "--archive-source a.en --archive-target a.fr --output-source 0.en.zst --output-target 0.fr.zst"
    done(folder, f"data extract {sides} --counts counts.json")
    outputs = "--output-source c.en.zst --output-target c.fr.zst --counts clean.json"
    done(folder, f"data clean --settings {{}} 0.en.zst 0.fr.zst {outputs}")
    for language in ("en", "fr"):
        done(folder, f"data tokenize --language {language} --settings {{}} c.{language}.zst t.{language}.zst")


def test_from_text_to_bitext(tmp_path: Path) -> None:
    tokens(tmp_path)
    assert [*read_lines(tmp_path / "t.en.zst")][:2] == ["The dog &apos;s here .", ""]
    for language in ("en", "fr"):
        done(tmp_path, f"data vocabulary --words 20 t.{language}.zst --output {language}.tsv")
    vocabularies = "--source-vocabulary en.tsv --target-vocabulary fr.tsv"
    done(tmp_path, f"data binarize --text t.en.zst t.fr.zst {vocabularies} --shuffle-seed 1 --output binary")
    assert len(Bitext.open(tmp_path / "binary")) == 3


def test_from_tokens_to_selected_pairs(tmp_path: Path) -> None:
    tokens(tmp_path)
    (tmp_path / "in.arpa").write_text(ARPA.format(the=-0.5, dog=-0.5))
    (tmp_path / "out.arpa").write_text(ARPA.format(the=-2, dog=-2))
    outputs = "--output-source out.en.zst --output-target out.fr.zst"
    done(tmp_path, f"selection sample --as-many-as t.en.zst --seed 1 --text t.en.zst t.fr.zst {outputs}")
    assert len([*read_lines(tmp_path / "out.fr.zst")]) == 3
    models = "--in-source in.arpa --out-source out.arpa --in-target in.arpa --out-target out.arpa"
    programs = f"--programs {kenlm.programs()}"
    done(tmp_path, f"selection score {programs} {models} t.en.zst t.fr.zst --output s.npy --histogram h.json")
    done(tmp_path, "selection threshold --target-words 9 --corpus a 1 --scores s.npy h.json --output t.json")
    outputs = "--output-source x.en.zst --output-target x.fr.zst"
    chosen = "--threshold t.json --corpus a --shard 0 --scores s.npy"
    done(tmp_path, f"selection apply {chosen} t.en.zst t.fr.zst {outputs}")
    assert [*read_lines(tmp_path / "x.fr.zst")] == ["Le chien est là .", "", "", "L&apos; homme dort ."]


def test_bad_input_is_one_line_and_exit_code_2(tmp_path: Path) -> None:
    (tmp_path / "a").write_text("x\ny\n")
    (tmp_path / "b").write_text("x\n")
    outputs = "--output-source c --output-target d --counts e"
    result = nmt(*f"data clean --settings {{}} a b {outputs}".split(), cwd=tmp_path)
    assert result.returncode == 2
    check(result.stderr)
    assert {path.name for path in tmp_path.iterdir()} == {"a", "b"}
