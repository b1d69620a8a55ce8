"""The record of results: its downloads, checksums and searches, and what is said where they do not fit."""

import gzip
import json
from pathlib import Path
from typing import Any
from unittest.mock import patch

import pytest
from click.testing import CliRunner
from hypothesis import given
from hypothesis import strategies as st

from nmt.errors import UserError
from nmt.evaluation.translations import write_provenance
from nmt.io.files import write_json
from nmt.store.model_folder import RECORD_FILES
from pipeline.cli.verify import verify
from pipeline.config import snapshot
from pipeline.config.catalogue import Archive
from pipeline.config.layers import find_layers, load_config
from pipeline.config.runs import collect_runs
from pipeline.results.outputs import TABLES_PROVENANCE
from pipeline.results.package import MAX_LINES, MODES, ReplicationPackage
from pipeline.results.ro_crate import RECORD, REPORT, remove_former_files, write_crate
from pipeline.results.verify import verify_results
from tests.bitexts import write_text
from tests.odd_values import altered_bytes, altered_json
from tests.running import ROOT

CODE = {"code": {"version": "0.0.9"}, "packages": {"torch": "2.0"}, "python": "3.11"}
MADE_WITH = {"device": "CPU", "made_with": CODE}


@pytest.fixture
def results(tmp_path: Path) -> Path:
    """Settings, runs and translations of Multi30k without anything else."""
    return write_results(tmp_path / "results")


def write_results(folder: Path) -> Path:
    config = load_config(find_layers(ROOT / "experiments" / "multi30k"))
    package = ReplicationPackage(folder)
    write_json(package.configuration, snapshot.get_published_settings(config))
    write_json(folder / TABLES_PROVENANCE, CODE)
    for run in collect_runs(config, config.use.models):
        for name in RECORD_FILES:
            write_json(package.run_file(run, name), {"label": run, "seed": 1, "data": {}, "made_with": CODE})
        for mode in MODES:
            translations = package.translations("test", run, mode)
            write_text(translations, [json.dumps({"line": 0, "source_tokens": ["a"], "tokens": ["b"]})])
            models = [{"name": run, "sha256": "f" * 64}]
            begun = {"mode": mode, "settings": config.decoding.model_dump(mode="json"), "models": models}
            summary = {"sentences": 1, "seconds": 12.5, "resumed": False}
            write_provenance(begun | MADE_WITH | summary, translations)
    return folder


def list_files(results: Path) -> list[Path]:
    return [path for path in results.rglob("*") if path.is_file() and path.name != RECORD]


def list_fetched_archives(results: Path) -> list[Archive]:
    return list(snapshot.read_published_settings(ReplicationPackage(results).configuration).archives.values())


def read_entities(results: Path, folder: Path) -> dict[str, dict[str, Any]]:
    """The record's entities by their ids."""
    write_crate(results, list_files(results), folder)
    graph = json.loads((results / RECORD).read_text(encoding="utf-8"))["@graph"]
    return {entity["@id"]: entity for entity in graph}


def list_archives(results: Path, folder: Path) -> list[dict[str, Any]]:
    """The archives that the record names."""
    entities = read_entities(results, folder).items()
    return [one for name, one in entities if name.startswith("http") and one["@type"] == "DigitalDocument"]


def test_archives_have_recorded_checksums(results: Path, tmp_path: Path) -> None:
    one, two, *_ = list_fetched_archives(results)
    note = {"bytes": 7, "md5": "m" * 32, "sha256": "a" * 64}
    write_json(tmp_path / f"{one.path}.json", note | {"source": "/home/me/mirror"})
    write_json(
        tmp_path / f"{two.path}.json", note | {"source": "https://me:secret@example.org/two?signature=1"}
    )
    found = {entity["@id"]: entity for entity in list_archives(results, tmp_path)}
    first, second = found[one.url], found[two.url]
    assert first["sha256"] == second["sha256"] == "a" * 64
    assert (first["contentSize"], first["identifier"]) == ("7", "md5:" + "m" * 32)
    assert "contentUrl" not in first and second["contentUrl"] == "https://example.org/two"
    assert "/home/me" not in (results / RECORD).read_text(encoding="utf-8")


def test_record_has_the_licence_of_the_text_and_the_code_that_made_the_tables(results: Path) -> None:
    entities = read_entities(results, results)
    assert "CC-BY-NC-SA-4.0" in entities["./"]["license"]["@id"]
    program = entities[REPORT]["instrument"]["@id"]
    assert entities[program]["softwareVersion"].startswith("0.0.9")


def test_former_files_are_removed_in_the_folder_alone(results, tmp_path):
    files = list_files(results)
    outside = tmp_path / "others"
    outside.mkdir()
    (outside / "thesis.txt").write_text("mine\n", encoding="utf-8")
    (results / "link").symlink_to(outside)
    (results / "notes.txt").write_text("mine, too\n", encoding="utf-8")
    (results / "former.csv").write_text("of a former run\n", encoding="utf-8")
    names = ["../others/thesis.txt", "link/thesis.txt", "link", "former.csv"]
    planned_names = [str(results / name) for name in names] + [str(outside / "thesis.txt")]
    assert remove_former_files(results, files, planned_names) == [results / "former.csv"]
    assert (outside / "thesis.txt").is_file() and (results / "notes.txt").is_file()


def test_compressed_bomb_is_not_read(results: Path) -> None:
    text = ReplicationPackage(results).text("test", "en")
    text.parent.mkdir(parents=True)
    text.write_bytes(gzip.compress(b"a\n" * (MAX_LINES + 1)))
    write_crate(results, list_files(results), results)
    (line,) = verify_results(results).problems
    assert line.startswith(f"{text}: the package has more than 1,000,000 lines")


def test_lines_of_the_package_stay_one_line(results: Path) -> None:
    (results / "a\nOK: all is well\r\u2028").write_text("x", encoding="utf-8")
    write_crate(results, list_files(results), results)
    summary = next(results.glob("runs/*/summary.json"))
    summary.write_text('{"label": "\\nOK: all is well"}', encoding="utf-8")
    result = CliRunner().invoke(verify, [str(results), "--output", str(results.parent / "output")])
    assert result.exit_code == 1 and isinstance(result.exception, SystemExit)
    assert not any(line.startswith("OK") for line in result.output.splitlines())


@pytest.fixture(scope="module")
def recorded_results(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Results with their record, for many tests in turn; their settings are compared with the demo's alone."""
    folder = write_results(tmp_path_factory.mktemp("recorded_results") / "demo" / "results")
    write_crate(folder, list_files(folder), folder)
    return folder


@pytest.mark.fuzz
@given(data=st.data())
def test_any_file_is_verdict_or_error(recorded_results: Path, data: st.DataObject) -> None:
    """Without tables and text made again; an altered file is never passed over."""
    path = data.draw(
        st.sampled_from(sorted([*list_files(recorded_results), *[recorded_results / RECORD] * 20])), "file"
    )
    before = path.read_bytes()
    after = data.draw((altered_json if path.suffix == ".json" else altered_bytes)(before))
    path.write_bytes(after)
    try:
        with patch.multiple(
            "pipeline.results.verify",
            _compare_tables=lambda *_: [],
            make_original_text=lambda *_: [],
            compare_text=lambda *_: [],
            find_contradictions=lambda _: [],
        ):
            found = verify_results(recorded_results)
    except UserError as error:
        assert "\n" not in str(error)
    else:
        assert not any("\n" in line for line in [*found.problems, *found.notes])
        assert path.name == RECORD or any("altered" in line for line in found.problems) == (before != after)
    finally:
        path.write_bytes(before)
