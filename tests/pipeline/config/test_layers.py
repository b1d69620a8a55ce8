"""Settings in layers: merging, completion, and what is said about faults."""

from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from nmt.errors import UserError, printable
from pipeline.config.experiment import list_corpora
from pipeline.config.layers import Layer, find_layers, find_module_layers, load_config, merge_layers
from pipeline.config.schema import Config
from tests.experiments import EXTENDS_PAPER
from tests.odd_values import JUNK
from tests.running import ROOT


def layer(values: dict[str, Any], name: str = "a.yaml") -> Layer:
    return Layer(name, values)


def paper_with(values: dict[str, Any]) -> Config:
    return load_config([*find_layers(ROOT), layer(values, "over.yaml")])


def test_every_corpus_of_the_paper_has_a_number_of_pairs():
    """Other addresses of an archive have no checksum, so the number of lines tells that the text is the paper's."""
    config = load_config(find_layers(ROOT))
    pairs = [config.corpora[corpus].pairs for corpus in list_corpora(config)]
    assert len(pairs) == 8 and sum(map(int, pairs)) == 40_842_333 + 3003 + 3000 + 3003


def test_paper_settings_are_the_papers():
    config = load_config(find_layers(ROOT))
    updates = {name: config.models[name].training.updates for name in config.use.models}
    assert updates == {
        "rnnencdec-30": 846_000,
        "rnnsearch-30": 471_000,
        "rnnencdec-50": 600_000,
        "rnnsearch-50": 288_000,
        "rnnsearch-50-star": 667_000,
    }
    architecture = {"hidden_units": 1000, "embedding_size": 620, "maxout_units": 500, "alignment_units": 1000}
    architecture |= {"init_std": 0.01, "alignment_init_std": 0.001, "unused_ids": 0}
    training = {"optimizer": "adadelta", "rho": 0.95, "epsilon": 1e-6, "clip_norm": 1, "not_finite": "stop"}
    training |= {"batch_size": 80, "batches_per_sort": 20, "train_sample": 10_000}
    training |= {"dev_score": "nll", "dev_sentences": "all", "validate_every": 10_000}
    for name in config.use.models:
        model = config.models[name]
        assert {key: getattr(model.architecture, key) for key in architecture} == architecture
        assert model.training.model_dump(include={*training}) == training
        model_type, max_words, *star = name.split("-")
        assert (model.model_type, model.max_words) == (model_type, int(max_words))
        ending = model.continue_from, model.training.patience, model.training.keep
        assert ending == (("rnnsearch-50", 10, "best") if star else (None, None, "last"))
    assert (config.vocabulary.words, config.vocabulary.specials_included) == (30_000, False)
    selection = config.selection
    assert (selection.enabled, selection.order, selection.target_words) == (True, 4, 348_000_000)
    assert selection.in_domain == config.use.dev == ["newstest2012", "newstest2013"]
    assert (config.decoding.if_no_eos, config.decoding.max_beam) == ("widen_beam", 500)
    artifacts = config.artifacts
    assert (artifacts.figure2_length, artifacts.figure2_window) == ("source", 10)
    assert (artifacts.figure2_max_words, artifacts.table3_words) == (60, 30)
    assert artifacts.figure3_words == [10, 20]


def test_models_start_from_shared_blocks():
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


@pytest.mark.fuzz
@given(st.data())
def test_any_value_is_a_fault_or_a_setting(data):
    values = merge_layers(find_layers(ROOT))
    place = values
    while isinstance(place, dict) and place:
        parent, key = place, data.draw(st.sampled_from(sorted(place)))
        place = place[key]
        if data.draw(st.booleans()):
            break
    parent[key] = data.draw(JUNK)
    try:
        load_config([layer(values)])
    except UserError as error:
        assert all(len(line) < 1100 for line in error.args)
        lines = str(error).split("\n")
        assert len(lines) == len(error.args) and all(printable(line) == line for line in lines)


def test_command_line_wins_over_experiment(tmp_path):
    own = tmp_path / "config.yaml"
    own.write_text(EXTENDS_PAPER + "seed: 2\n", encoding="utf-8")
    overlay = tmp_path / "overlay.yaml"
    overlay.write_text("seed: 3\n", encoding="utf-8")
    assert load_config(find_layers(ROOT)).seed == 1
    assert load_config(find_layers(tmp_path)).seed == 2
    assert load_config(find_layers(tmp_path, [overlay])).seed == 3
    assert load_config(find_layers(tmp_path, [overlay], {"seed": 4})).seed == 4


def experiment(folder: Path, text: str) -> Path:
    folder.mkdir(exist_ok=True)
    (folder / "config.yaml").write_text(text, encoding="utf-8")
    return folder


def test_extended_experiments_are_layers(tmp_path, monkeypatch):
    experiment(tmp_path / "first", EXTENDS_PAPER + "seed: 2\nmirrors: [mirror]\ntraining: {batch_size: 7}\n")
    experiment(tmp_path / "second", "extends: ../first\nseed: 3\n")
    third = experiment(tmp_path / "third", "extends: ../second\ntraining: {batch_size: 8}\n")
    monkeypatch.chdir(third)
    config = load_config(find_layers(third))
    assert (config.seed, config.training.batch_size, config.training.rho) == (3, 8, 0.95)
    assert config.mirrors == ["../first/mirror"]
    experiment(tmp_path / "first", "sead: 2\n")
    with pytest.raises(UserError, match=r"first/config\.yaml: sead: "):
        load_config(find_layers(third))


def test_settings_of_a_module_are_those_of_an_experiment(tmp_path):
    values = {"extends": str(ROOT / "experiments" / "demo"), "data_from": "other"}
    folder = experiment(tmp_path / "own", yaml.safe_dump(values))
    assert load_config(find_module_layers(folder, values)) == load_config(find_layers(folder))


def test_command_line_values_are_yaml():
    config = load_config(find_layers(ROOT, pairs={"training": {"learning_rate": "0.5", "patience": "3"}}))
    assert (config.training.learning_rate, config.training.patience) == (0.5, 3)


def test_paths_are_relative_to_their_file(tmp_path, monkeypatch):
    experiment = tmp_path / "experiment"
    experiment.mkdir()
    (experiment / "config.yaml").write_text(
        EXTENDS_PAPER + "data_from: ../other\nmirrors: [../mirror, /mirror, 'https://a.org/b']\n",
        encoding="utf-8",
    )
    monkeypatch.chdir(tmp_path)
    config = load_config(find_layers(experiment))
    assert config.data_from == "other"
    assert config.mirrors == ["mirror", "/mirror", "https://a.org/b"]
