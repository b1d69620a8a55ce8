"""Systems: runs of models, and entries that train nothing."""

from __future__ import annotations

from pathlib import Path

import pytest

from nmt.config.overlays import ConfigError, find_layers, load
from nmt.config.projections import page_settings, report_settings
from nmt.config.schema import Config
from nmt.config.snapshot import published
from nmt.config.systems import systems_in_use, systems_of
from tests.running import ROOT

OVERLAY = """
use: {models: [rnnencdec-50, rnnsearch-50], systems: [two, narrow]}
models: {rnnsearch-50: {seeds: [4, 2]}}
systems:
  two: {label: Two, members: [rnnsearch-50, rnnsearch-50.seed-2], average: log_probability}
  narrow: {label: Narrow, members: [rnnencdec-50], decoding: {beam: 1}}
  idle: {label: Idle, members: [rnnsearch-30]}
artifacts: {figure2_models: [rnnsearch-50]}
"""


def config(folder: Path, overlay: str) -> Config:
    (folder / "config.yaml").write_text(overlay, encoding="utf-8")
    return load(find_layers(ROOT / "config.yaml", folder))


def test_runs_then_systems_in_their_order_each_with_its_members_and_decoding(tmp_path: Path) -> None:
    settings = config(tmp_path, OVERLAY)
    used = systems_in_use(settings)
    assert {name: system.members for name, system in used.items()} == {
        "rnnencdec-50": ("rnnencdec-50",),
        "rnnsearch-50": ("rnnsearch-50",),
        "rnnsearch-50.seed-2": ("rnnsearch-50.seed-2",),
        "two": ("rnnsearch-50", "rnnsearch-50.seed-2"),
        "narrow": ("rnnencdec-50",),
    }
    assert [(system.model, system.seed) for system in used.values()] == [
        ("rnnencdec-50", 1), ("rnnsearch-50", 4), ("rnnsearch-50", 2), ("two", None), ("narrow", None),
    ]  # fmt: skip
    assert used["two"].average == "log_probability" and used["two"].decoding == settings.decoding
    assert used["narrow"].decoding == settings.decoding.model_copy(update={"beam": 1})
    assert "rnnsearch-30" in systems_of(settings) and "idle" not in systems_of(settings)


def test_results_name_the_systems_in_use_alone(tmp_path: Path) -> None:
    settings = config(tmp_path, OVERLAY)
    assert report_settings(settings).labels["two"] == "Two"
    assert list(published(settings)["systems"]) == ["two", "narrow"]
    assert '"idle"' not in page_settings(settings)


def test_without_systems_nothing_is_written_of_them(tmp_path: Path) -> None:
    """What was made before there were any is not made again."""
    settings = config(tmp_path, "")
    assert "systems" not in published(settings) and "systems" not in published(settings)["use"]
    assert "systems" not in page_settings(settings)


@pytest.mark.parametrize(
    ("entry", "problem"),
    [
        (
            "members: [rnnsearch-51]",
            "systems.two.members: found 'rnnsearch-51', which `use.models`",
        ),
        ("members: [rnnsearch-50.seed-4]", "systems.two.members: found 'rnnsearch-50.seed-4', which"),
        (
            "members: [rnnsearch-30]",
            "systems.two.members: found 'rnnsearch-30', which `use.models`",
        ),
        ("members: [rnnencdec-50, rnnencdec-50]", "systems.two.members: found 'rnnencdec-50' twice"),
        ("members: []", "systems.two.members: found []"),
        ("members: [rnnencdec-50], beam: 2", "systems.two.beam: unknown key"),
        ("members: [rnnencdec-50], decoding: {beams: 2}", "systems.two.decoding.beams: unknown key"),
        ("members: [rnnencdec-50], average: mean", "systems.two.average: found 'mean'"),
    ],
)
def test_what_is_wrong_with_a_system_is_one_line(tmp_path: Path, entry: str, problem: str) -> None:
    lines = OVERLAY.split("\n")
    text = "\n".join(f"  two: {{label: Two, {entry}}}" if "label: Two" in line else line for line in lines)
    with pytest.raises(ConfigError) as error:
        config(tmp_path, text)
    (found,) = error.value.problems
    assert problem in found


def test_systems_have_names_of_their_own(tmp_path: Path) -> None:
    names = OVERLAY.replace("two", "rnnsearch-50.seed-2").replace("narrow", "rnnsearch-30")
    with pytest.raises(ConfigError) as error:
        config(tmp_path, names)
    assert len(error.value.problems) == 2
    assert all("the name is that of a model or its run" in line for line in error.value.problems)
