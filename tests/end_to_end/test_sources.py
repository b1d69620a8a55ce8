"""Text from elsewhere: another archive than the catalogue's, text that is tokenized already, jobs killed on the way."""

import gzip
import hashlib
import json
import zipfile
from pathlib import Path
from typing import Any

import yaml

from nmt.data.bitext import Bitext
from nmt.io.text_files import read_lines
from tests.running import PAPER, snakemake, trained_on


def experiment(folder: Path, settings: dict[str, Any]) -> Path:
    folder.mkdir(parents=True)
    (folder / "config.yaml").write_text(yaml.safe_dump({"extends": str(PAPER), **settings}), encoding="utf-8")
    return folder


# --- another archive


def test_a_second_source_with_another_kind_of_archive_is_an_entry_of_the_catalogue(tmp_path: Path) -> None:
    english, french = b"One sentence.\nTwo.\n", "Une phrase.\r\nDeux\u2028fois.\n".encode()
    second = tmp_path / "second" / "x" / "all.zip"
    second.parent.mkdir(parents=True)
    with zipfile.ZipFile(second, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("all/text.en", english)
        archive.writestr("all/text.fr", french)
    nowhere = (tmp_path / "nowhere.tgz").as_uri()
    sums = {"md5": "0" * 32, "bytes": 12345}
    alternative = {"url": (tmp_path / "none.zip").as_uri(), "path": "x/all.zip"}
    md5 = hashlib.md5(english).hexdigest()
    folder = experiment(
        tmp_path / "experiment",
        {
            "mirrors": [str(tmp_path / "second")],
            "archives": {"a": {"url": nowhere, "path": "a.tgz", **sums, "alternatives": [alternative]}},
            **trained_on(
                {
                    "mini": {
                        "source": {"archive": "a", "member": "text/text.en", "md5": md5},
                        "target": {"archive": "a", "member": "text/text.fr"},
                        "pairs": 2,
                    }
                }
            ),
        },
    )
    target = "data/tokens/mini/0.fr.zst"
    result = snakemake(folder, "--cores", "1", "--", target)
    assert result.returncode == 0, result.stdout
    assert [*read_lines(folder / target)] == ["Une phrase .", "Deux fois ."]
    raw = json.loads((folder / "data/raw/mini/counts.json").read_text(encoding="utf-8"))
    assert raw["source_md5"] == md5
    (note,) = raw["archives"].values()
    assert note["source"] == str(second)
    assert note["sha256"] == hashlib.sha256(second.read_bytes()).hexdigest()
    # a catalogue that names other sources fetches nothing again
    more = "archives={a: {alternatives: []}}"
    again = snakemake(folder, "--cores", "1", "--config", more, "mirrors=[]", "--", target)
    assert "Nothing to be done" in again.stdout, again.stdout
    other = snakemake(folder, "--cores", "1", "--config", "corpora={mini: {pairs: 3}}", "--", target)
    assert "2 lines, expected 3" in other.stdout


# --- text that is tokenized already


def test_tokenized_and_selected_text_takes_the_place_of_everything_up_to_selection(tmp_path: Path) -> None:
    english = ["He did n't say &quot; yes &quot; .", "a.b,c don't-know", "", "The end ."] * 30
    french = ["Il n&apos; a pas dit oui .", "l'un d'eux , c'est tout", "seul", "La fin ."] * 30
    owner = tmp_path / "the owner's disk"
    owner.mkdir()
    (owner / "bitexts.selected.en.gz").write_bytes(gzip.compress("\n".join(english).encode() + b"\n"))
    (owner / "bitexts.selected.fr").write_text("\n".join(french) + "\n", encoding="utf-8")
    (owner / "dev.en").write_text("He didn't say yes.\n", encoding="utf-8")
    (owner / "dev.fr").write_text("Il n'a pas dit oui.\n", encoding="utf-8")
    files = {
        "selected-en": "bitexts.selected.en.gz",
        "selected-fr": "bitexts.selected.fr",
        "dev-en": "dev.en",
        "dev-fr": "dev.fr",
    }
    corpora: dict[str, Any] = {
        name: {"source": {"archive": f"{text}-en"}, "target": {"archive": f"{text}-fr"}}
        for name, text in (("selected", "selected"), ("dev", "dev"), ("test", "dev"))
    }
    corpora["selected"] |= {"tokenized": True, "pairs": 120, "shards": 2}
    folder = experiment(
        tmp_path / "experiment",
        {
            "archives": {
                key: {"url": (owner / name).as_uri(), "path": f"mine/{name}"} for key, name in files.items()
            },
            "corpora": corpora,
            "use": {"train": ["selected"], "dev": ["dev"], "test": ["test"]},
            "selection": {"enabled": False},
        },
    )
    result = snakemake(folder, "--cores", "2", "--", "data")
    assert result.returncode == 0, result.stdout
    tokens = [[*read_lines(folder / f"data/tokens/selected/0.{side}.zst")] for side in ("en", "fr")]
    kept = [pair if all(pair) else ("", "") for pair in zip(english, french, strict=True)]
    assert [*zip(*tokens, strict=True)] == kept
    assert [*read_lines(folder / "data/tokens/dev/0.en.zst")] == ["He didn &apos;t say yes ."]
    words = {line.split("\t")[1] for line in read_lines(folder / "data/vocabulary/en.tsv")}
    assert {"don't-know", "a.b,c", "n't", "&quot;"} <= words
    assert len(Bitext.open(folder / "data/binary/train")) == 90
    counts = json.loads((folder / "data/tokens/selected/0.counts.json").read_text(encoding="utf-8"))["clean"]
    assert (counts["kept"], counts["empty"]) == (90, 30)
