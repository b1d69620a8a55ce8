"""experiments/cho2014b against the paper: Cho et al. (2014b), Sec. 4."""

import pytest
import torch

from nmt.data.vocabulary import SPECIALS, compute_size_without_specials
from nmt.model import model_types
from nmt.settings.model_types import GrConvArchitecture
from pipeline.config.layers import find_layers, load_config
from pipeline.config.runs import collect_runs, get_run_settings
from pipeline.config.schema import Config
from tests.experiments import load_experiment
from tests.running import ROOT

FOLDER = ROOT / "experiments" / "cho2014b"


@pytest.fixture(scope="module")
def config() -> Config:
    return load_experiment("cho2014b")


def grconv(config: Config) -> GrConvArchitecture:
    architecture = config.models["grconv-30"].architecture
    assert isinstance(architecture, GrConvArchitecture)
    return architecture


def test_cho2014b_settings_are_the_papers(config):
    assert config.use.dev == ["newstest2012", "newstest2013"] and config.use.test == ["newstest2014"]
    assert config.vocabulary.words == 30_000 and config.data_from is not None
    model, sizes = config.models["grconv-30"], grconv(config)
    assert model.max_words == 30 and model.training.updates == 296_144 and model.training.keep == "last"
    assert (sizes.hidden_units, sizes.embedding_size, sizes.tree_init_scale) == (2000, 620, 0.4)
    assert sizes.recurrent_init_scale == 1 and config.models["grconv-50"].architecture == sizes
    training = model.training
    assert (training.optimizer, training.rho, training.epsilon) == ("adadelta", 0.95, 1e-6)
    assert (training.batch_size, training.clip_norm, training.learning_rate) == (80, 1.0, 1.0)
    assert config.decoding.beam == 10 and config.decoding.n_best == 10
    assert config.decoding.normalize_by_length and config.decoding.unknown == "excluded"
    config = load_config(find_layers(FOLDER, [FOLDER / "moses.yaml"]))
    assert config.moses.lm_order == 4
    phrases = config.models["rnnenc-phrases"]
    # Cho et al. (2014a), Sec. 4.1: "We used rank-100 matrices"
    assert (phrases.architecture.embedding_size, phrases.architecture.output_layer) == (100, "factored")
    assert (phrases.architecture.hidden_units, phrases.training.batch_size) == (1000, 64)


@pytest.mark.parametrize(
    ("experiment", "other", "model"),
    [
        ("cho2014b", "..", "rnnencdec-30"),
        ("cho2014b-demo", "demo", "rnnencdec-30"),
        ("cho2014b-demo", "demo", "rnnsearch-30"),
        ("sutskever2014-demo", "demo", "rnnencdec-50"),
    ],
)
def test_shared_models_have_the_same_settings(experiment, other, model):
    configs = [load_experiment(name) for name in (experiment, other)]
    mine, theirs = (get_run_settings(each, collect_runs(each, [model])[model]) for each in configs)
    assert mine == theirs


def test_number_of_weights_is_the_authors(config):
    sizes = grconv(config)
    ids = len(SPECIALS) + compute_size_without_specials(
        config.vocabulary.words, config.vocabulary.specials_included
    )
    with torch.device("meta"):
        model = model_types.build_model("grconv", sizes, (ids, ids))
    assert sum(weight.numel() for weight in model.parameters()) / 1e6 == pytest.approx(117.5, abs=0.1)
