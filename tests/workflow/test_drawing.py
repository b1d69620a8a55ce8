"""The maintainer's drawing is that of the workflow, the packages and their layers as they are."""

from __future__ import annotations

from pipeline.monitor.jobs import list_jobs
from tests.running import ROOT
from workflow.drawing import TARGET, drawing, reduced


def test_the_drawing_is_of_this_workflow() -> None:
    assert TARGET.read_text(encoding="utf-8") == drawing(list_jobs(ROOT)), "run: make format"


def test_what_is_read_by_way_of_another_stage_is_left_out() -> None:
    sources = {"a": set(), "b": {"a"}, "c": {"a", "b"}, "d": {"a"}, "e": {"a", "c", "d"}}
    assert reduced(sources) == {"a": [], "b": ["a"], "c": ["b"], "d": ["a"], "e": ["c", "d"]}
