"""The packages of results in the repository, and docs/results.md and docs/compared.md, which show them."""

from pathlib import Path

import pytest

from pipeline.config import snapshot
from pipeline.results.outputs import TABLES_PROVENANCE
from pipeline.results.ro_crate import RECORD
from pipeline.results.verify import compare_with_experiments
from workflow.results_page import COMPARED_PAGE, PACKAGES, PAGE, insert_claims, insert_packages, keep_package


def test_results_page_is_up_to_date() -> None:
    page = PAGE.read_text(encoding="utf-8")
    assert insert_packages(page) == page
    page = COMPARED_PAGE.read_text(encoding="utf-8")
    assert insert_claims(page) == page


@pytest.mark.parametrize("package", sorted(path.name for path in PACKAGES.iterdir()))
def test_kept_package_is_the_same(package: str, tmp_path: Path) -> None:
    (tmp_path / "results").symlink_to(PACKAGES / package)
    keep_package(tmp_path, tmp_path / "kept")
    for path in PACKAGES.joinpath(package).rglob("*.*"):
        if path.is_file() and path.name not in (RECORD, TABLES_PROVENANCE):
            name = path.relative_to(PACKAGES / package)
            assert (tmp_path / "kept" / name).read_bytes() == path.read_bytes(), name


OF_A_PART = {"overnight": ("archives.", "corpora.", "use.models", "artifacts.figure2_models")}
"""Settings in which a package may differ: the run had two of the models, and smaller copies of the archives."""


@pytest.mark.parametrize("package", sorted(path.name for path in PACKAGES.iterdir()))
def test_package_has_the_settings_of_its_experiment(package: str) -> None:
    notes = compare_with_experiments(
        snapshot.read_published_settings(PACKAGES / package / "config.json"), PACKAGES / package
    )
    lines = [line for note in notes for line in note.split(f"experiments/{package} here: ")[1].split("; ")]
    assert not [line for line in lines if not line.startswith(("seeds ", *OF_A_PART.get(package, ())))]
