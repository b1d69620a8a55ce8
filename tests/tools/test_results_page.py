"""The packages of results in the repository, and docs/results.md and docs/compared.md, which show them."""

import shutil

import pytest

from nmt.io.files import read_json, write_json
from pipeline.config import snapshot
from pipeline.results.outputs import TABLES_PROVENANCE
from pipeline.results.ro_crate import RECORD, read_crate, write_crate
from pipeline.results.verify import find_experiment, verify_results
from tests.messages import refused
from tools.results_page import (
    COMPARED_PAGE,
    PACKAGES,
    PAGE,
    README,
    build_package,
    insert_claims,
    insert_packages,
    insert_scores,
    keep_package,
)


def test_results_page_is_up_to_date():
    page = PAGE.read_text(encoding="utf-8")
    assert insert_packages(page) == page
    page = COMPARED_PAGE.read_text(encoding="utf-8")
    assert insert_claims(page) == page
    readme = README.read_text(encoding="utf-8")
    assert insert_scores(readme) == readme


@pytest.mark.parametrize("package", sorted(path.name for path in PACKAGES.iterdir()))
def test_kept_package_is_the_same(package, tmp_path):
    assert not verify_results(PACKAGES / package).problems
    build_package(PACKAGES / package, tmp_path / "archives", tmp_path / "kept")
    for path in PACKAGES.joinpath(package).rglob("*.*"):
        if path.is_file() and path.name not in (RECORD, TABLES_PROVENANCE):
            name = path.relative_to(PACKAGES / package)
            assert (tmp_path / "kept" / name).read_bytes() == path.read_bytes(), name


def test_package_of_unknown_code_is_refused(tmp_path):
    results = tmp_path / "results"
    shutil.copytree(PACKAGES / "multi30k-subwords", results)
    summary_file = next(results.glob("runs/*/summary.json"))
    summary = read_json(summary_file)
    summary["made_with"]["code"]["dirty"] = True
    write_json(summary_file, summary)
    write_crate(
        results, [results / name for name in read_crate(results) if (results / name).is_file()], tmp_path
    )
    with refused():
        keep_package(tmp_path, tmp_path / "kept")
    assert not (tmp_path / "kept").exists()


OF_A_PART = dict.fromkeys(("overnight", "sutskever2014-overnight"), ("archives.", "corpora."))
"""Settings in which these packages may differ: their runs had smaller copies of the archives."""


@pytest.mark.parametrize("package", sorted(path.name for path in PACKAGES.iterdir()))
def test_package_has_the_settings_of_its_experiment(package):
    config = snapshot.read_published_settings(PACKAGES / package / "config.json")
    name, differences = find_experiment(config, PACKAGES / package)
    assert name == package
    assert not [line for line in differences if not line.startswith(("seeds ", *OF_A_PART.get(package, ())))]
