"""The packages of results in the repository, and docs/results.md, which shows them."""

from __future__ import annotations

from pathlib import Path

import pytest

from pipeline.results.ro_crate import RECORD
from pipeline.results.verify import verify
from workflow.results_page import PACKAGES, PAGE, keep, with_packages


def test_the_page_shows_what_the_tables_of_all_packages_say() -> None:
    page = PAGE.read_text(encoding="utf-8")
    assert with_packages(page) == page


@pytest.mark.parametrize("package", sorted(path.name for path in PACKAGES.iterdir()))
def test_every_package_is_verified_by_itself(package: str, tmp_path: Path) -> None:
    found = verify(PACKAGES / package, tmp_path)
    assert not found.problems and "tables made again identically" in found.checked


def test_a_package_of_a_package_is_the_same(tmp_path: Path) -> None:
    experiment = tmp_path / "demo"
    experiment.mkdir()
    (experiment / "results").symlink_to(PACKAGES / "demo")
    keep(experiment, tmp_path / "kept")
    for path in PACKAGES.joinpath("demo").rglob("*.*"):
        if path.is_file() and path.name != RECORD:
            name = path.relative_to(PACKAGES / "demo")
            assert (tmp_path / "kept" / name).read_bytes() == path.read_bytes(), name
