"""Systems: runs of models, and entries that train nothing."""

from pipeline.config.job_settings import get_report_settings
from pipeline.config.runs import collect_systems, select_systems
from pipeline.config.snapshot import get_published_settings
from tests.experiments import paper

OVERLAY = """
use: {models: [rnnencdec-50, rnnsearch-50], systems: [two, narrow], rescored: [moses-mixed, own, best]}
n_best_lists: {moses: lists/moses.gz, other: lists/other.gz}
rescored:
  moses-mixed: {label: Mixed, n_best_list: moses, members: [rnnsearch-50, rnnsearch-50.seed-2], weight: 0.25}
  own: {label: Own, n_best_list: two, members: [rnnencdec-50]}
  best: {label: Best, n_best_list: moses}
  spare: {label: Spare, n_best_list: other}
models: {rnnsearch-50: {seeds: [4, 2]}}
systems:
  two: {label: Two, members: [rnnsearch-50, rnnsearch-50.seed-2], average: log_probability}
  narrow: {label: Narrow, members: [rnnencdec-50], decoding: {beam: 1}}
  idle: {label: Idle, members: [rnnsearch-30]}
artifacts: {figure2_models: [rnnsearch-50]}
"""


def test_systems_have_members_and_decoding(tmp_path):
    settings = paper(tmp_path, OVERLAY)
    used = select_systems(settings)
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
    assert "rnnsearch-30" in collect_systems(settings) and "idle" not in collect_systems(settings)


def test_results_name_selected_systems_only(tmp_path):
    settings = paper(tmp_path, OVERLAY)
    assert get_report_settings(settings).labels["two"] == "Two"
    assert list(get_published_settings(settings)["systems"]) == ["two", "narrow"]
    assert get_report_settings(settings).labels["moses-mixed"] == "Mixed"
    kept = get_published_settings(settings)
    assert list(kept["rescored"]) == ["moses-mixed", "own", "best"] and list(kept["n_best_lists"]) == [
        "moses"
    ]
