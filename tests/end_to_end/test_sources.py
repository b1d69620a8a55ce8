"""Text from elsewhere: tokens in another archive than the catalogue's."""

import hashlib
import json
import zipfile

import yaml

from nmt.io.text_files import read_lines
from tests.running import PAPER, snakemake, trained_on


def test_a_second_source_with_another_kind_of_archive_is_an_entry_of_the_catalogue(tmp_path):
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
    corpus = {
        "source": {"archive": "a", "member": "text/text.en", "md5": md5},
        "target": {"archive": "a", "member": "text/text.fr"},
        "pairs": 2,
        "tokenized": True,
    }
    settings = {
        "extends": str(PAPER),
        "mirrors": [str(tmp_path / "second")],
        "archives": {"a": {"url": nowhere, "path": "a.tgz", **sums, "alternatives": [alternative]}},
        **trained_on({"mini": corpus}),
    }
    folder = tmp_path / "experiment"
    folder.mkdir()
    (folder / "config.yaml").write_text(yaml.safe_dump(settings), encoding="utf-8")
    target = "data/tokens/mini/0.fr.zst"
    result = snakemake(folder, "--cores", "1", "--", target)
    assert result.returncode == 0, result.stdout
    assert [*read_lines(folder / target)] == ["Une phrase.", "Deux fois."]
    raw = json.loads((folder / "data/raw/mini/counts.json").read_text(encoding="utf-8"))
    assert raw["source_md5"] == md5
    note = json.loads((folder / "data/archives/a.tgz.json").read_text(encoding="utf-8"))
    assert note["source"] == str(second)
    assert note["sha256"] == hashlib.sha256(second.read_bytes()).hexdigest()
    # a catalogue that names other sources fetches nothing again
    more = "archives={a: {alternatives: []}}"
    again = snakemake(folder, "--cores", "1", "--config", more, "mirrors=[]", "--", target)
    assert "Nothing to be done" in again.stdout, again.stdout
    other = snakemake(folder, "--cores", "1", "--config", "corpora={mini: {pairs: 3}}", "--", target)
    assert "2 lines, expected 3" in other.stdout
