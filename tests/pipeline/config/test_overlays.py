"""Settings in layers: merging, completion, and what is said about faults."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipeline.config.overlays import ConfigError, Layer, Merged, find_layers, load, read_layer
from pipeline.config.schema import Config
from tests.hostile import JUNK
from tests.messages import refused
from tests.running import ROOT

PAPER = ROOT / "config.yaml"

TREES = st.recursive(
    st.integers() | st.lists(st.integers(), max_size=2),
    lambda inner: st.dictionaries(st.sampled_from("abc"), inner, max_size=3),
    max_leaves=8,
)
MAPPINGS = st.dictionaries(st.sampled_from("abc"), TREES, max_size=3)


def layer(values: dict[str, Any], name: str = "a.yaml") -> Layer:
    return Layer(name, ROOT, values)


def paper_with(values: dict[str, Any]) -> Config:
    return load([read_layer(PAPER), layer(values, "over.yaml")])


@given(MAPPINGS)
def test_merging_a_layer_with_itself_or_nothing_changes_nothing(values: dict[str, Any]) -> None:
    assert Merged([layer(values)]).values == values
    assert Merged([layer(values), layer(values)]).values == values
    assert Merged([layer(values), layer({})]).values == values


@given(MAPPINGS, MAPPINGS)
def test_what_the_later_layer_says_stands(first: dict[str, Any], second: dict[str, Any]) -> None:
    merged = Merged([layer(first), layer(second)]).values
    assert merged.keys() == first.keys() | second.keys()
    for key, value in second.items():
        if not isinstance(value, dict):
            assert merged[key] == value
    for key in first.keys() - second.keys():
        assert merged[key] == first[key]


@given(MAPPINGS, MAPPINGS)
def test_merging_leaves_the_layers_alone(first: dict[str, Any], second: dict[str, Any]) -> None:
    before = repr((first, second))
    Merged([layer(first), layer(second)])
    assert repr((first, second)) == before


def test_the_paper_is_what_the_paper_says() -> None:
    config = load([read_layer(PAPER)])
    updates = {name: config.models[name].training.updates for name in config.use.models}
    assert updates == {
        "rnnencdec-30": 846_000,
        "rnnsearch-30": 471_000,
        "rnnencdec-50": 600_000,
        "rnnsearch-50": 288_000,
        "rnnsearch-50-star": 667_000,
    }
    for name in config.use.models:
        model = config.models[name]
        sizes = model.architecture
        assert (sizes.hidden_units, sizes.embedding_size, sizes.maxout_units, sizes.alignment_units) == (
            1000,
            620,
            500,
            1000,
        )
        assert (model.training.optimizer, model.training.rho, model.training.epsilon) == (
            "adadelta",
            0.95,
            1e-6,
        )
        assert (model.training.clip_norm, model.training.batch_size, model.training.batches_per_sort) == (
            1,
            80,
            20,
        )
    assert config.vocabulary.words == 30_000
    assert config.selection.target_words == 348_000_000


def test_a_model_starts_from_the_shared_blocks_and_states_what_differs() -> None:
    config = paper_with(
        {
            "architecture": {"hidden_units": 7},
            "training": {"clip_norm": 3.0},
            "models": {"rnnsearch-30": {"architecture": {"embedding_size": 9}}},
        }
    )
    own, other = config.models["rnnsearch-30"], config.models["rnnencdec-30"]
    assert (own.architecture.hidden_units, own.architecture.embedding_size) == (7, 9)
    assert (other.architecture.hidden_units, other.architecture.embedding_size) == (7, 620)
    assert own.training.clip_norm == 3.0
    assert own.training.updates == 471_000


def test_a_missing_key_of_a_new_model_is_said_with_the_file_of_the_model() -> None:
    with refused():
        paper_with({"models": {"new": {"label": "New", "family": "rnnsearch"}}})


def test_wrong_kinds_in_place_of_mappings_are_faults_and_no_crash() -> None:
    keys = Config.model_fields
    for value in (None, 3, "text", [], {}):
        for key in set(keys) - {"seed", "seeds", "data_from", "mirrors"}:
            found = problems_of_replacing(key, value)
            assert found or value == {} or (key, value) == ("sentence_vectors", None), (key, value)


def problems_of_replacing(key: str, value: Any) -> list[str]:
    values = Merged([read_layer(PAPER)]).values | {key: value}
    try:
        load([layer(values)])
    except ConfigError as error:
        return error.problems
    return []


@pytest.mark.parametrize(
    "values",
    [
        {"use": {"train": ["nowhere"]}},
        {"use": {"dev": ["newstest2014"]}},
        {"use": {"test": ["newstest2014", "newstest2013"]}},
        {"use": {"train": ["un-2000", "un-2000"]}},
        {"use": {"train": ["europarl"]}},
        {"use": {"models": ["rnnsearch-30"]}},
        {"corpora": {"newstest2014": {"shards": 2}}},
        {"corpora": {"un-2000": {"source": {"archive": "un-2001"}}}},
        {"models": {"rnnsearch-50-star": {"continue_from": "rnnsearch-30"}}},
        {"models": {"rnnsearch-50-star": {"architecture": {"hidden_units": 10}}}},
        {"models": {"rnnsearch-50-star": {"training": {"updates": 288000}}}},
        {"models": {"rnnsearch-50-star": {"training": {"cost": "mean"}}}},
        {"models": {"rnnsearch-50-star": {"continue_from": "rnnsearch-50-star"}}},
        {"selection": {"in_domain": []}},
        {"corpora": {"giga-fren": {"shards": 501}}},
        {"selection": {"in_domain": ["newstest2014"]}},
        {"selection": {"corpus_words": {"newstest2009": 5}}},
        {"artifacts": {"figure3_model": "rnnencdec-50"}},
        {"sentence_vectors": {"model": "rnnsearch-50", "panels": [["a", "b", "c"]]}},
        {"sentence_vectors": {"model": "lstm", "panels": [["a", "b", "c"]]}},
        {"artifacts": {"tree_model": "rnnencdec-50"}},
        {"artifacts": {"tree_model": "grconv"}},
        {"artifacts": {"figure3_words": [20, 10]}},
        {"languages": {"target": "en"}},
        {"vocabulary": {"words": 2**31}},
        {"corpora": {"x": {"source": {"archive": "un-2000"}}}},
        {"archives": {"un-2000": {"md5": "abc"}}},
        {"archives": {"x": {"url": "https://x/a", "path": "wmt14/dev.tgz"}}},
        {"archives": {"un-2000": {"alternatives": [{"url": "https://x/a", "path": "a", "sum": "b"}]}}},
        {"corpora": {"x": {"grammar": {"split": "train", "pairs": 2}, "tokenized": True}}},
        {"playground": {"models": ["rnnsearch-51"]}},
        {
            "use": {"models": ["rnnencdec-30", "rnnsearch-30", "rnnencdec-50", "rnnsearch-50", "tree"]},
            "models": {"tree": {"label": "Tree", "family": "grconv", "max_words": 30}},
            "playground": {"models": ["tree"]},
        },
    ],
)
def test_contradictions(values: dict[str, Any]) -> None:
    with refused():
        paper_with(values)


@pytest.mark.parametrize(
    "slip", ["@0.1", "0x_", "1:30", ".inf", "[1", "1" * 400, "{" * 300, "2014-02-30", "nan"]
)
def test_a_slip_in_a_number_is_one_short_line_with_file_and_key(tmp_path: Path, slip: str) -> None:
    for text in (f'"{slip}"', slip):
        file = tmp_path / "over.yaml"
        file.write_text(f"training:\n  learning_rate: {text}\n", encoding="utf-8")
        with refused() as error:
            load([read_layer(PAPER), read_layer(file)])
        assert len(str(error.value)) < 300 and str(error.value).isprintable()


def test_slips_on_the_command_line_are_lines_too() -> None:
    for value in ("[1", "@0.1", "1:30", "{" * 300, "{a: {b", "1" * 5000, float("inf")):
        with refused() as error:
            load(find_layers(PAPER, ROOT, pairs={"training": {"learning_rate": value}}))
        assert len(str(error.value)) < 300 and str(error.value).isprintable()


@pytest.mark.fuzz
@given(st.data())
def test_whatever_stands_at_a_key_is_a_fault_or_a_setting(data: st.DataObject) -> None:
    values = Merged([read_layer(PAPER)]).values
    place: Any = values
    while isinstance(place, dict) and place:
        parent, key = place, data.draw(st.sampled_from(sorted(place)))
        place = place[key]
        if data.draw(st.booleans()):
            break
    parent[key] = data.draw(JUNK)
    try:
        load([layer(values)])
    except ConfigError as error:
        assert all(line.isprintable() and len(line) < 1100 for line in error.problems)


def test_the_experiment_lies_over_the_paper_and_the_command_line_over_both(tmp_path: Path) -> None:
    own = tmp_path / "config.yaml"
    own.write_text("seed: 2\n", encoding="utf-8")
    overlay = tmp_path / "overlay.yaml"
    overlay.write_text("seed: 3\n", encoding="utf-8")
    assert load(find_layers(PAPER, ROOT)).seed == 1
    assert load(find_layers(PAPER, tmp_path)).seed == 2
    assert load(find_layers(PAPER, tmp_path, [overlay])).seed == 3
    assert load(find_layers(PAPER, tmp_path, [overlay], {"seed": 4})).seed == 4


def experiment(folder: Path, text: str) -> Path:
    folder.mkdir(exist_ok=True)
    (folder / "config.yaml").write_text(text, encoding="utf-8")
    return folder


def test_what_an_experiment_extends_lies_between_the_root_and_itself(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    experiment(tmp_path / "first", "seed: 2\nmirrors: [mirror]\ntraining: {batch_size: 7}\n")
    experiment(tmp_path / "second", "extends: ../first\nseed: 3\n")
    third = experiment(tmp_path / "third", "extends: ../second\ntraining: {batch_size: 8}\n")
    monkeypatch.chdir(third)
    config = load(find_layers(PAPER, third))
    assert (config.seed, config.training.batch_size, config.training.rho) == (3, 8, 0.95)
    assert config.mirrors == ["../first/mirror"]
    experiment(tmp_path / "first", "sead: 2\n")
    with refused():
        load(find_layers(PAPER, third))


def test_what_cannot_be_extended_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    own = experiment(tmp_path / "own", "extends: ../other\n")
    with refused():
        find_layers(PAPER, own)
    experiment(tmp_path / "other", "extends: ../own\n")
    with refused():
        find_layers(PAPER, own)
    experiment(own, "extends: [../other]\n")
    with refused():
        find_layers(PAPER, own)
    experiment(own, "")
    with refused():
        find_layers(PAPER, own, pairs={"extends": "../other"})


def test_values_of_the_command_line_are_read_as_yaml() -> None:
    config = load(find_layers(PAPER, ROOT, pairs={"training": {"learning_rate": "0.5", "patience": "3"}}))
    assert (config.training.learning_rate, config.training.patience) == (0.5, 3)


def test_folders_start_at_the_file_that_says_them(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    experiment = tmp_path / "experiment"
    experiment.mkdir()
    (experiment / "config.yaml").write_text(
        "data_from: ../other\nmirrors: [../mirror, /mirror, 'https://a.org/b']\n", encoding="utf-8"
    )
    monkeypatch.chdir(experiment)
    config = load(find_layers(PAPER, experiment))
    assert config.data_from == "../other"
    assert config.mirrors == ["../mirror", "/mirror", "https://a.org/b"]
    monkeypatch.chdir(tmp_path)
    config = load(find_layers(PAPER, experiment))
    assert config.data_from == "other"
    assert config.mirrors[0] == "mirror"
    assert os.path.isabs(config.mirrors[1])


def test_a_folder_needs_settings_that_can_be_read(tmp_path: Path) -> None:
    own = tmp_path / "config.yaml"
    with refused():
        find_layers(PAPER, tmp_path)
    own.symlink_to(tmp_path / "nowhere.yaml")
    with refused():
        find_layers(PAPER, tmp_path)
    own.unlink()
    own.mkdir()
    with refused():
        find_layers(PAPER, tmp_path)
    own.rmdir()
    own.touch()
    assert load(find_layers(PAPER, tmp_path)) == load(find_layers(PAPER, ROOT))


def test_a_number_outside_of_what_its_user_takes_is_refused() -> None:
    """Limits are those of NumPy and torch, of arrays, of a scheduler; seeds of 2 ** 64 failed hours later."""
    wrong = {
        "seed": [-1, 2**63],
        "seeds": [[-1], [2**64]],
        "grammar": [{"seed": -1}, {"max_words": 11}, {"lexicon": 0}, {"zipf_exponent": 1e300}],
        "training": [{"threads": 2**31}, {"batch_size": 10**30}, {"epsilon": 2.0}, {"updates": 10**40}],
        "decoding": [{"beam": 10**30}, {"n_best": 10**6}, {"widest_beam": 10**6}, {"threads": 10**6}],
        "artifacts": [{"bootstrap_seed": -1}, {"figure3_seed": 2**64}, {"figure3_words": [0, 5]}],
        "resources": [{"train_hours": float("inf")}, {"translate_hours": 1e300}, {"data_memory_gb": 10**9}],
        "cleaning": [{"max_ratio": float("inf")}, {"max_words": 10**30}],
    }
    for key, values in wrong.items():
        for value in values:
            with refused():
                paper_with({key: value})
