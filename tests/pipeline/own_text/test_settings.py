"""Settings of experiments on the text of a user: they load, and suit the amount of text."""

from collections import Counter
from pathlib import Path

import pytest

from nmt.io.files import read_json, write_json
from nmt.settings.base import read_settings
from nmt.settings.text import Languages
from nmt.settings.training import ModelRun
from pipeline.config.job_settings import get_text_settings
from pipeline.config.layers import find_layers, load_config
from pipeline.config.schema import Config
from pipeline.monitor.forecast import estimate_disk_bytes
from pipeline.own_text.parallel_text import ParallelText
from pipeline.own_text.settings import OwnText, Proposal, format_config, write_experiment
from pipeline.own_text.splits import TextStatistics
from tests.messages import refused
from tests.pipeline.own_text.test_splits import make_pairs, write_parallel_text
from tests.running import snakemake
from tests.translators import MOSES, trained_model


def propose_config(folder: Path, pairs: int = 5000, length: int = 20, words: int = 9000) -> Config:
    """Return the settings for a text with so many pairs of so many words each, and so many different words."""
    repeated_words = dict.fromkeys(map(str, range(words)), 2)
    statistics = TextStatistics(
        pairs={"train": pairs, "dev": 100, "test": 100},
        left_out_pairs=3,
        lengths=[length] * 1000,
        word_counts={"train": (Counter(repeated_words), Counter(dict.fromkeys("abc", 2)))},
    )
    text = OwnText(
        texts={"train": ParallelText(Path("a.de"), Path("a.es"))},
        languages=Languages(source="de", target="es"),
        tokenized=False,
        statistics=statistics,
    )
    config = format_config(folder, text, Proposal.from_statistics(statistics))
    (folder / "config.yaml").write_text(config)
    return load_config(find_layers(folder))


@pytest.fixture
def text(tmp_path: Path) -> dict[str, ParallelText]:
    return {"train": write_parallel_text(tmp_path, make_pairs())}


@pytest.mark.parametrize(
    ("pairs", "hidden_units", "updates"),
    [(1000, 256, 1000), (29_000, 256, 2700), (1_000_000, 500, 37_500), (41_000_000, 1000, 150_000)],
)
def test_sizes_suit_amount_of_text(tmp_path, pairs, hidden_units, updates):
    config = propose_config(tmp_path, pairs)
    assert config.architecture.hidden_units == hidden_units
    assert config.corpora["own-train"].shards == max(1, pairs // 1_000_000)
    assert config.corpora["own-test"].shards == 1
    model = config.models["rnnsearch-20"]
    assert (model.training.updates, model.max_words) == (updates, 20)
    assert config.models["rnnsearch-20-star"].continue_from == "rnnsearch-20"


@pytest.mark.parametrize(
    ("length", "max_words"), [(2, {6, 10}), (26, {16, 26}), (50, {30, 50}), (400, {30, 50})]
)
def test_limits_suit_lengths(tmp_path, length, max_words):
    config = propose_config(tmp_path, length=length)
    assert {config.models[name].max_words for name in config.use.models} == max_words


@pytest.mark.parametrize(("words", "size"), [(9000, 9000), (90_000, 30_000)])
def test_vocabulary_has_repeated_words(tmp_path, words, size):
    assert propose_config(tmp_path, words=words).vocabulary.sizes == (size, 3)


def test_new_experiment_prepares_its_text(tmp_path, text, monkeypatch):
    folder = tmp_path / "own"
    write_experiment(folder, text, None, tokenized=False)
    with refused():
        write_experiment(folder, text, None, tokenized=False)

    # the text of the experiment counts in the forecast
    monkeypatch.chdir(folder)
    config = load_config(find_layers(folder))
    text_bytes = estimate_disk_bytes(config, [], config.use.train, [])
    assert text_bytes > sum(file.stat().st_size for file in (folder / "text").glob("train.*"))

    command = ("--cores", "1", "data/tokens/own-test/0.es.zst")
    result = snakemake(folder, *command)
    assert result.returncode == 0, result.stdout
    (folder / "text" / "dev.es.zst").unlink()
    result = snakemake(folder, *command)
    assert result.returncode == 2
    assert "corpora.own-dev.target.file: text/dev.es.zst: no such file" in result.stdout


def test_fine_tuning(tmp_path):
    """The settings are those of the model; less text is enough than for a new model."""
    model = trained_model(tmp_path / "trained")
    settings = model / "settings.json"
    write_json(settings, read_json(settings) | {"model": "rnnsearch-26-star"})
    text = {"train": write_parallel_text(tmp_path, make_pairs(600))}
    with refused():
        write_experiment(tmp_path / "new", text, ("en", "fr"), tokenized=False)
    with refused():
        write_experiment(tmp_path / "own", text, ("de", "es"), tokenized=False, init_from=model)
    with refused():
        write_experiment(tmp_path / "own", text, None, tokenized=False, init_from=model)
    with refused():
        write_experiment(tmp_path / "own", text, ("en", "fr"), tokenized=True, init_from=model)
    write_experiment(tmp_path / "own", text, ("en", "fr"), tokenized=False, init_from=model)

    config = load_config(find_layers(tmp_path / "own"))
    assert config.init_from is not None and Path(config.init_from).samefile(model)
    before, after = (config.models[name] for name in config.use.models)
    base = read_settings(ModelRun, settings)
    assert (before.training.updates, before.label) == (0, base.label) and after.label != base.label
    assert before.architecture == after.architecture == base.architecture
    # the model has a few thousand weights, and the models of the extended experiment millions
    assert config.resources.updates_per_hour[base.model_type] > 1_000_000
    assert get_text_settings(config).languages.source == "en"
    assert config.tokenization == MOSES and config.vocabulary.sizes == (32, 32)


def test_codes_may_have_three_letters(tmp_path, text):
    write_experiment(tmp_path / "own", text, ("tdt", "mni"), tokenized=False)
    result = snakemake(tmp_path / "own", "--dry-run", "--quiet", "rules")
    assert result.returncode == 0, result.stdout


@pytest.mark.parametrize("codes", [("de", "de"), ("DE", "es")])
def test_wrong_codes_are_refused(tmp_path, text, codes):
    with refused():
        write_experiment(tmp_path / "own", text, codes, tokenized=False)


def test_advice_on_languages_and_unknown_words(tmp_path, text):
    _, advice = write_experiment(tmp_path / "own", text, ("da", "ja"), tokenized=False)
    *_, general_rules, unsegmented, unknown_words = advice
    assert general_rules.startswith("da ") and unsegmented.startswith("ja ") and "--subwords" in unsegmented
    assert "%" in unknown_words
    assert load_config(find_layers(tmp_path / "own")).languages.source == "da"


def test_unknown_rates_of_each_split():
    statistics = TextStatistics()
    statistics.count_pair("train", "aaabbc", "de")
    statistics.count_pair("dev", "aaaaabccdd", "dde")
    statistics.count_pair("test", "d", "d")
    assert statistics.unknown_rates("train", (2, 3)) == [pytest.approx(1 / 6), 0.0]
    assert statistics.unknown_rates("dev", (2, 3)) == [pytest.approx(0.4), 0.0]
    assert statistics.unknown_rates("test", (2, 3)) == [1.0, 0.0]


def test_subwords_need_no_advice_on_rules(tmp_path, text):
    _, advice = write_experiment(tmp_path / "own", text, ("zh", "en"), tokenized=False, subwords=500)
    config = load_config(find_layers(tmp_path / "own"))
    assert "zh" in advice[-1] and config.vocabulary.sizes == (500, 500)
    assert config.vocabulary.subwords and not config.tokenization.escape
