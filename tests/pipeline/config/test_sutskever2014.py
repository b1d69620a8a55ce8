"""experiments/sutskever2014 is what Sutskever et al. (2014) say."""

import pytest

from pipeline.config.runs import collect_runs, get_run_settings, select_systems
from tests.experiments import load_experiment

PAPER, SMALL, DEMO = (load_experiment(name) for name in ("sutskever2014", "sutskever2014-demo", "demo"))
FORWARD, REVERSED = PAPER.models["lstm-forward"], PAPER.models["lstm-reversed"]

SETTINGS = {  # Sec. 3.1, 3.2 and 3.4
    "architecture.layers": 4,
    "architecture.hidden_units": 1000,
    "architecture.embedding_size": 1000,
    "architecture.init_range": 0.08,
    "architecture.source_eos": False,
    "training.optimizer": "sgd",
    "training.learning_rate": 0.7,
    "training.decay_from_epoch": 5,
    "training.decay_every_epochs": 0.5,
    "training.decay_factor": 0.5,
    "training.epochs": 7.5,
    "training.batch_size": 128,
    "training.cost": "mean",
    "training.clip_norm": 5,
    "training.order": "seed",
    "training.keep": "last",
    "training.patience": None,
}


def test_settings_are_the_papers():
    for key, value in SETTINGS.items():
        block, _, name = key.partition(".")
        for model in (FORWARD, REVERSED):
            assert getattr(getattr(model, block), name) == value, key
    assert (FORWARD.architecture.source_order, REVERSED.architecture.source_order) == ("forward", "reversed")
    shallower = [PAPER.models[f"lstm-reversed-{count}"] for count in ("1-layer", "2-layers", "3-layers")]
    assert [model.architecture.layers for model in shallower] == [1, 2, 3]
    assert PAPER.vocabulary.sizes == (160_000, 80_000)
    decoding = PAPER.decoding
    assert (decoding.beam, decoding.min_length, decoding.unknown) == (12, "none", "allowed")
    assert not decoding.normalize_by_length
    assert list(PAPER.use.dev) == ["newstest2012", "newstest2013"]


def test_five_runs_differ_in_their_seed():
    runs = collect_runs(PAPER, ["lstm-reversed"])
    assert len(runs) == len({run.seed for run in runs.values()}) == 5
    one, *others = (get_run_settings(PAPER, run).model_dump(exclude={"seed"}) for run in runs.values())
    assert others == [one] * 4


def test_updates_suffice_for_the_epochs():
    """12 million pairs (Sec. 3.1)."""
    training = REVERSED.training
    assert training.epochs is not None
    assert training.epochs * 12e6 / training.batch_size <= training.updates


@pytest.mark.parametrize("config", [PAPER, SMALL], ids=["paper", "demo"])
def test_ensembles_of_table_1(config):
    ensembles = [system for system in select_systems(config).values() if len(system.members) > 1]
    found = [(len(set(system.members)), system.decoding.beam) for system in ensembles]
    assert found == [(5, 1), (2, 12), (5, 2), (5, 12)]


def test_rescored_systems_of_table_2():
    """The last one, without models, is the oracle."""
    *rescored, oracle = PAPER.rescored.values()
    found = [(len(set(system.members)), system.weight) for system in rescored]
    assert found == [(1, 0.5), (1, 0.5), (5, 0.5)] and oracle.members is None


def test_demo_models_differ_in_one_setting():
    forward, shallow, reversed_ = (
        SMALL.models[f"lstm-{name}"] for name in ("forward", "shallow", "reversed")
    )
    apart = {"label", "seeds"}
    one = reversed_.model_dump(exclude=apart)
    architecture = one["architecture"]
    assert forward.model_dump(exclude=apart) == one | {
        "architecture": architecture | {"source_order": "forward"}
    }
    assert shallow.model_dump(exclude=apart) == one | {"architecture": architecture | {"layers": 1}}
