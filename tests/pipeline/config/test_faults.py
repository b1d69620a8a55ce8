"""What is wrong with settings is told before any job: one line for each fault, with the file and the key."""

from contextlib import suppress
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nmt.errors import UserError
from pipeline.config.experiment import find_missing_files
from pipeline.config.layers import find_layers, load_config
from pipeline.config.yaml_text import parse
from tests.experiments import EXTENDS_PAPER
from tests.running import ROOT, snakemake

SYSTEM = "{use: {systems: [two]}, systems: {two: {label: Two, ENTRY}}}"
RESCORED = (
    "{use: {systems: [two], rescored: [own]}, rescored: {own: {label: Own, ENTRY}},"
    " systems: {two: {label: Two, members: [rnnsearch-50, rnnencdec-50]}}}"
)
FAULTS = [
    # what stands at a key
    ("training: {updats: 5}", "training.updats"),
    ("training: {batch_size: many}", "training.batch_size"),
    ("models: {new: {label: New, model_type: rnnsearch}}", "models.new.max_words"),
    ("models: 3", "models"),
    ("cleaning: {max_ratio: .nan}", "cleaning.max_ratio"),
    ("data_from: ../{other}", "data_from"),
    ("use: {train: [un-2000, un-2000]}", "use.train"),
    ("artifacts: {figure3_words: [20, 10]}", "artifacts.figure3_words"),
    ("languages: {target: en}", "languages"),
    ("corpora: {x: {source: {archive: un-2000}}}", "corpora.x"),
    ("corpora: {x: {grammar: {split: train, pairs: 2}, pairs: 3}}", "corpora.x"),
    # what contradicts another key
    ("use: {train: [europarl]}", "use.train"),
    ("use: {dev: [newstest2014]}", "use.dev"),
    ("use: {dev: [europarl-v7]}", "use.dev"),
    ("corpora: {newstest2014: {shards: 2}}", "corpora.newstest2014.shards"),
    ("corpora: {newstest2013: {shards: 2}}", "corpora.newstest2013.shards"),
    ("corpora: {un-2000: {source: {archive: un-2001}}}", "corpora.un-2000.source.archive"),
    ("archives: {a: {url: 'http://a/b?f=1'}, b: {url: 'http://a/b?f=2'}}", "archives.b.path"),
    ("models: {rnnsearch-50-star: {continue_from: lstm}}", "models.rnnsearch-50-star.continue_from"),
    (
        "models: {unused: {label: U, model_type: rnnsearch, max_words: 9, continue_from: lstm}}",
        "models.unused.continue_from",
    ),
    (
        "models: {rnnsearch-50-star: {continue_from: rnnsearch-50-star}}",
        "models.rnnsearch-50-star.continue_from",
    ),
    (
        "models: {rnnsearch-50-star: {architecture: {hidden_units: 10}}}",
        "models.rnnsearch-50-star",
    ),
    (
        "models: {rnnsearch-50-star: {training: {updates: 288000}}}",
        "models.rnnsearch-50-star.training.updates",
    ),
    ("models: {rnnsearch-50-star: {seeds: [3]}}", "models.rnnsearch-50-star.seeds"),
    ("models: {a.seed-2: {label: A, model_type: rnnsearch, max_words: 5}}", "models.a.seed-2"),
    (
        "{languages: {source: de}, use: {train: [x]}, corpora: {x: {grammar: {split: train, pairs: 2}}}}",
        "languages",
    ),
    ("selection: {in_domain: []}", "selection.in_domain"),
    ("selection: {in_domain: [newstest2014]}", "selection.in_domain"),
    ("selection: {corpus_words: {newstest2009: 5}}", "selection.corpus_words"),
    ("artifacts: {figure2_models: [lstm]}", "artifacts.figure2_models"),
    ("artifacts: {figure3_model: rnnencdec-50}", "artifacts.figure3_model"),
    ("artifacts: {tree_model: rnnencdec-50}", "artifacts.tree_model"),
    (
        "sentence_vectors: {model: rnnsearch-50, panels: [[a, b, c]]}",
        "sentence_vectors.model",
    ),
    ("playground: {models: [rnnsearch-51]}", "playground.models"),
    (SYSTEM.replace("ENTRY", "members: [rnnsearch-51]"), "systems.two.members"),
    (SYSTEM.replace("ENTRY", "members: [rnnsearch-50, rnnsearch-50]"), "systems.two.members"),
    (SYSTEM.replace("ENTRY", "members: [rnnsearch-50], decoding: {beams: 2}"), "systems.two.decoding.beams"),
    (SYSTEM.replace("two", "moses").replace("ENTRY", "members: [rnnsearch-50]"), "systems.moses"),
    (
        SYSTEM.replace("two", "rnnsearch-30").replace("ENTRY", "members: [rnnsearch-50]"),
        "systems.rnnsearch-30",
    ),
    (RESCORED.replace("ENTRY", "n_best_list: best, members: [rnnsearch-50]"), "rescored.own.n_best_list"),
    (RESCORED.replace("ENTRY", "n_best_list: two, members: [two]"), "rescored.own.members"),
    ("moses: {enabled: true, phrase_model: rnnsearch-50}", "moses.phrase_model"),
    ("moses: {enabled: true, lm_corpora: [nws]}", "moses.lm_corpora"),
    (
        "{moses: {enabled: true, lm_corpora: [x]}, corpora: {x: {grammar: {split: train, pairs: 2}}}}",
        "moses.lm_corpora",
    ),
    ("{moses: {enabled: true}, tokenization: {escape: false}}", "tokenization.escape"),
    # YAML
    ("seed: 1\nuse: [\n", "line 3, column 1"),
    ("seed: {{ SEED }}", "line 1, column 8"),
    ("seed: 1\nseed: 2\n", "line 2, column 1"),
    ("seed: 2014-02-30", "not valid YAML"),
    ("{a: " * 3000 + "}" * 3000, "not valid YAML"),
    ("[seed]", "found ['seed']"),
    ("# \udce9t\udce9", "not UTF-8"),  # two bytes of Latin-1
]


@pytest.mark.parametrize(("text", "key"), FAULTS, ids=range(len(FAULTS)))
def test_fault_is_a_line_with_file_and_key(tmp_path, monkeypatch, text, key):
    monkeypatch.chdir(tmp_path)
    Path("over.yaml").write_text(text, encoding="utf-8", errors="surrogateescape")
    with pytest.raises(UserError) as error:
        load_config(find_layers(ROOT, [Path("over.yaml")]))
    for line in error.value.args:
        assert line.isprintable() and len(line) < 1100
    assert any(line.startswith(f"over.yaml: {key}") for line in error.value.args), error.value.args


def test_fault_names_its_layer(tmp_path):
    text = f"{EXTENDS_PAPER}training: {{updats: 5}}\nvocabulary: {{words: 0}}\n"
    (tmp_path / "config.yaml").write_text(text, encoding="utf-8")
    overlay = tmp_path / "overlay.yaml"
    overlay.write_text("decoding: {beam: 0}\n", encoding="utf-8")
    result = snakemake(tmp_path, "-n", "--configfile", str(overlay), "--config", "seed=soon")
    assert result.returncode == 2 and "Traceback" not in result.stdout
    for start in (
        "config.yaml: training.updats",
        "config.yaml: vocabulary.words",
        "overlay.yaml: decoding.beam",
    ):
        assert f"error: {start}: " in result.stdout
    assert "error: --config: seed: " in result.stdout


@pytest.mark.parametrize("value", ["[1", "1:30", "1" * 5000])
def test_invalid_command_line_value_is_one_line(value):
    with pytest.raises(UserError, match=r"^--config: training\.learning_rate: found [^\n]{,200}$"):
        load_config(find_layers(ROOT, pairs={"training": {"learning_rate": value}}))


def test_faulty_extends_is_refused(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "own").mkdir()
    with pytest.raises(UserError, match=r"no config\.yaml here"):
        find_layers(Path("own"))
    for text in ("extends: ../other", "extends: [../other]"):
        Path("own/config.yaml").write_text(text, encoding="utf-8")
        with pytest.raises(UserError, match=r"^own/config\.yaml: extends: found "):
            find_layers(Path("own"))
    Path("own/config.yaml").write_text("extends: ../own", encoding="utf-8")
    with pytest.raises(UserError, match=r"^own/config\.yaml: extends: found '\.\./own', which extends"):
        find_layers(Path("own"))
    with pytest.raises(UserError, match=r"^--config: extends: "):
        load_config(find_layers(ROOT, pairs={"extends": "../other"}))


GIVEN = """
artifacts: {moses_translations: nowhere.txt, gold_alignments: .}
n_best_lists: {m: nowhere.gz}
rescored: {r: {label: R, n_best_list: m, members: [rnnsearch-50]}}
use: {rescored: [r]}
"""


def test_missing_files_are_named(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)  # as in a run
    named = []
    for text in (GIVEN, "moses: {enabled: true, lm_text: [nowhere.gz]}\n"):
        (tmp_path / "config.yaml").write_text(EXTENDS_PAPER + text, encoding="utf-8")
        named += find_missing_files(load_config(find_layers(tmp_path)))
    keys = ("artifacts.gold_alignments", "n_best_lists.m", "artifacts.moses_translations", "moses.lm_text")
    for key, name, line in zip(keys, (".", "nowhere.gz", "nowhere.txt", "nowhere.gz"), named, strict=True):
        assert line.startswith(f"{key}: {name}: no such file")


def test_missing_data_from_is_named(tmp_path):
    """If the other experiment uses the text of a third one, running it would not help."""
    own = tmp_path / "own"
    for name, data_from in (("own", "../other"), ("other", "../third"), ("third", "null")):
        (tmp_path / name).mkdir()
        text = f"{EXTENDS_PAPER}data_from: {data_from}\n"
        (tmp_path / name / "config.yaml").write_text(text, encoding="utf-8")
    for data_from, remedy in (("../other", "../third"), ("../third", f" --directory {tmp_path}/third data")):
        result = snakemake(own, "-n", "--config", f"data_from={data_from}")
        assert result.returncode == 2 and f"error: data_from: no {data_from}/data/tokens/" in result.stdout
        assert remedy in result.stdout


@pytest.mark.parametrize(("text", "value"), [("1e-6", 1e-6), ("010", 10), ("yes", "yes"), ("1:30", "1:30")])
def test_yaml_is_that_of_version_1_2(text, value):
    assert parse(text) == value


@pytest.mark.fuzz
@given(st.text(st.sampled_from("01:.-+ex_ao~{}[]!&*?|>'\"\n\t ,#@%nulyes")))
def test_any_text_is_read_or_refused(text):
    with suppress(ValueError):
        parse(text)
