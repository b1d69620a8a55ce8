"""Settings of experiments on somebody's text: they load, and suit how much text there is."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest

from nmt.settings.text import Languages
from pipeline.config.layers import find_layers, load_config
from pipeline.config.schema import Config
from pipeline.monitor.forecast import estimate_disk_bytes
from pipeline.own_text.settings import Proposal, format_config, write_experiment
from pipeline.own_text.text import SPLITS, ParallelText, TextStatistics
from tests.messages import refused
from tests.pipeline.own_text.test_text import lines, text
from tests.running import snakemake


def statistics(pairs: int, length: int = 20, words: int = 9000) -> TextStatistics:
    counts = (Counter(dict.fromkeys(map(str, range(words)), 2)), Counter(dict.fromkeys("abc", 2)))
    parts = {"train": pairs, "dev": 100, "test": 100}
    return TextStatistics(parts, 3, [length] * 1000, 2 * length * 1000, {"train": counts})


def proposed(folder: Path, text: TextStatistics) -> Config:
    files = {part: (f"{part}.de", f"{part}.es") for part in SPLITS}
    languages = Languages(source="de", target="es")
    given = {"train": ParallelText(Path("a.de"), Path("a.es"))}
    folder.mkdir(exist_ok=True)
    config = format_config(folder, given, languages, files, text, Proposal.from_statistics(text), False)
    (folder / "config.yaml").write_text(config)
    return load_config(find_layers(folder))


@pytest.mark.parametrize(
    ("pairs", "hidden", "updates"),
    [(1000, 256, 1000), (29_000, 256, 2700), (1_000_000, 500, 37_500), (41_000_000, 1000, 150_000)],
)
def test_sizes_and_updates_follow_the_amount_of_text(
    tmp_path: Path, pairs: int, hidden: int, updates: int
) -> None:
    config = proposed(tmp_path, statistics(pairs))
    assert config.architecture.hidden_units == hidden
    assert config.corpora["own-train"].shards == max(1, pairs // 1_000_000)
    assert config.corpora["own-test"].shards == 1
    model = config.models["rnnsearch-20"]
    assert (model.training.updates, model.max_words) == (updates, 20)
    assert config.models["rnnsearch-20-star"].continue_from == "rnnsearch-20"


@pytest.mark.parametrize(
    ("length", "limits"), [(2, {6, 10}), (26, {16, 26}), (50, {30, 50}), (400, {30, 50})]
)
def test_limits_follow_the_lengths(tmp_path: Path, length: int, limits: set[int]) -> None:
    config = proposed(tmp_path, statistics(5000, length))
    assert {config.models[name].max_words for name in config.use.models} == limits


def test_the_vocabulary_is_what_occurs_twice_up_to_the_paper_s(tmp_path: Path) -> None:
    assert proposed(tmp_path, statistics(5000, words=9000)).vocabulary.sizes == (9000, 3)
    assert proposed(tmp_path, statistics(5000, words=90_000)).vocabulary.sizes == (30_000, 3)


def test_an_experiment_brings_its_own_text_as_far_as_tokens(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "own"
    given = text(tmp_path, lines())
    write_experiment(folder, {"train": given}, None, tokenized=False)
    with refused():
        write_experiment(folder, {"train": given}, None, tokenized=False)
    monkeypatch.chdir(folder)
    config = load_config(find_layers(folder))
    assert estimate_disk_bytes(config, folder, [], config.use.train, [])["text"] > sum(
        file.stat().st_size for file in (folder / "text").glob("train.*")
    )
    made = snakemake(folder, "--cores", "1", "data/tokens/own-test/0.es.zst")
    assert made.returncode == 0, made.stdout
    (folder / "text" / "dev.es.zst").unlink()
    made = snakemake(folder, "--cores", "1", "data/tokens/own-test/0.es.zst")
    assert made.returncode == 2
    assert "corpora.own-dev.target.file: text/dev.es.zst: no such file" in made.stdout


def test_a_language_may_have_a_code_of_three_letters(tmp_path: Path) -> None:
    folder = tmp_path / "own"
    write_experiment(folder, {"train": text(tmp_path, lines())}, ("tdt", "mni"), tokenized=False)
    planned = snakemake(folder, "--dry-run", "--quiet", "rules")
    assert planned.returncode == 0, planned.stdout


@pytest.mark.parametrize("codes", [("de", "de"), ("DE", "es")])
def test_two_different_codes_are_expected(tmp_path: Path, codes: tuple[str, str]) -> None:
    with refused():
        write_experiment(tmp_path / "own", {"train": text(tmp_path, lines())}, codes, tokenized=False)


def test_a_language_that_moses_does_not_suit_is_taken_with_advice(tmp_path: Path) -> None:
    given = {"train": text(tmp_path, lines())}
    _, _, advice = write_experiment(tmp_path / "own", given, ("da", "ja"), tokenized=False)
    general, cut, unknown = advice
    assert general.startswith("da ") and cut.startswith("ja ") and "--subwords" in cut and "%" in unknown
    assert load_config(find_layers(tmp_path / "own")).languages.source == "da"


def test_the_share_of_unknown_words_is_that_of_each_set() -> None:
    found = TextStatistics()
    found.count_pair("train", "aaabbc", "de")
    found.count_pair("dev", "aaaaabccdd", "dde")
    found.count_pair("test", "d", "d")
    assert found.unknown_rates("train", (2, 3)) == [pytest.approx(1 / 6), 0.0]
    assert found.unknown_rates("dev", (2, 3)) == [pytest.approx(0.4), 0.0]
    assert found.unknown_rates("test", (2, 3)) == [1.0, 0.0]


def test_subword_units_of_an_unsegmented_language_need_no_advice(tmp_path: Path) -> None:
    given = {"train": text(tmp_path, lines())}
    _, _, advice = write_experiment(tmp_path / "own", given, ("zh", "en"), tokenized=False, subwords=500)
    config = load_config(find_layers(tmp_path / "own"))
    assert not advice and config.vocabulary.sizes == (500, 500)
    assert config.vocabulary.subwords and not config.tokenization.escape
