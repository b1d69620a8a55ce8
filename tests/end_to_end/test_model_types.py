"""Every type of model through all that a run does with a model: settings, training, files, search, scores, card."""

import json
import math
from pathlib import Path
from typing import Any

import pytest
import torch
import yaml
from click.testing import CliRunner

from nmt.cli import commands
from nmt.decoding.forced_decoding import score_translations
from nmt.evaluation import bleu
from nmt.io.files import read_json, write_json
from nmt.io.text_files import read_lines, read_pairs
from nmt.settings.model_types import MODEL_TYPES, MODEL_TYPES_WITH_ATTENTION, ModelTypeName
from nmt.store import trained_model
from nmt.store.model_card import write_card
from pipeline.config.runs import collect_runs, get_run_settings
from pipeline.config.schema import Config
from pipeline.monitor.forecast import estimate_disk_bytes, estimate_run_hours
from pipeline.monitor.run_state import RunStates
from tests.bitexts import write_bitext
from tests.experiments import paper
from tests.small_models import small_architecture
from tests.training_settings import decoding, training
from tests.translators import text_settings

PAIRS = [([2 + i % 9, 3 + i % 5, 2 + i % 7], [2 + i % 9, 3 + i % 5]) for i in range(20)]


@pytest.fixture
def config(tmp_path: Path, model_type: ModelTypeName) -> Config:
    """An experiment with one model, of which the settings say only what its model type needs."""
    tiny = {
        "label": "Tiny",
        "model_type": model_type,
        "max_words": 12,
        "architecture": small_architecture(model_type).model_dump(),
        "training": training(updates=4, validate_every=2, checkpoint_every=2).model_dump(),
    }
    overlay = {
        "use": {"models": ["tiny"]},
        "models": {"tiny": tiny},
        "artifacts": {
            "reported": False,
            "figure2_models": ["tiny"],
            "figure3_model": "tiny" if model_type in MODEL_TYPES_WITH_ATTENTION else None,
            "table3_models": ["tiny"],
        },
        "resources": {"updates_per_hour": {model_type: 1000}},
    }
    return paper(tmp_path, yaml.safe_dump(overlay))


def nmt(*arguments: object) -> None:
    """Run a subcommand."""
    result = CliRunner().invoke(commands, list(map(str, arguments)), catch_exceptions=False)
    assert result.exit_code == 0, result.output


def as_options(**files: object) -> list[object]:
    return [part for name, file in files.items() for part in (f"--{name.replace('_', '-')}", file)]


def settings(values: Any) -> str:
    return json.dumps(values if isinstance(values, dict) else values.model_dump())


def trained(here: Path, config: Config) -> Path:
    """The folder of the experiment's model, complete."""
    write_bitext(here, PAIRS)
    (run,) = collect_runs(config, config.use.models).values()
    wanted = settings(get_run_settings(config, run))
    files = as_options(
        train=here / "bitext", dev=here / "bitext", source_vocabulary=here / "source.tsv",
        target_vocabulary=here / "target.tsv", store=here / "store", output=here / "model",
    )  # fmt: skip
    nmt("train", "--settings", wanted, *files)
    nmt("model", "package", "--model", here / "model", "--settings", settings(text_settings()))
    return here / "model"


SEARCH = settings(decoding(beam=2, n_best=2, max_length_factor=2, batch_size=3))


def decode(here: Path, model: Path, test: list[object]) -> None:
    """Translate the test text as both columns of Table 1 need it."""
    for mode in ("all", "no_unk"):
        wanted = as_options(mode=mode, settings=SEARCH, output=here / f"{mode}.jsonl")
        nmt("test-set", "decode", "--model", model, *test, *wanted)


def evaluate(here: Path, seed: int) -> Path:
    """The file of the scores of both."""
    test = here / "source.txt", here / "target.txt"
    scores = bleu.score_model("tiny", here / "all.jsonl", here / "no_unk.jsonl", test)
    write_json(here / "scores.json", {"seed": seed, **scores})
    return here / "scores.json"


def test_a_model_type_can_all_that_a_run_does(tmp_path, config, model_type):
    aligns = model_type in MODEL_TYPES_WITH_ATTENTION
    assert estimate_run_hours(RunStates(config, tmp_path), "tiny") == 4 / 1000
    assert estimate_disk_bytes(config, [], [], ["tiny"]) > 0
    model = trained(tmp_path, config)
    summary = json.loads((model / "summary.json").read_text(encoding="utf-8"))
    assert summary["model_type"] == model_type and summary["updates"] == 4

    test = as_options(source=tmp_path / "source.txt", reference=tmp_path / "target.txt")
    decode(tmp_path, model, test)
    translations = [json.loads(line) for line in read_lines(tmp_path / "all.jsonl")]
    assert len(translations) == 20 and all((one["alignment"] is not None) == aligns for one in translations)
    ensemble = ["--model", model, "--model", model]
    nmt("test-set", "decode", *ensemble, *test, "--settings", SEARCH, "--output", tmp_path / "ensemble.jsonl")
    together = [json.loads(line)["tokens"] for line in read_lines(tmp_path / "ensemble.jsonl")]
    assert together == [one["tokens"] for one in translations], "a model agrees with itself"

    assert_perplexity(tmp_path, model, test)
    scores, card = evaluate(tmp_path, summary["seed"]), model / "README.md"
    write_card(model, scores=read_json(scores))
    assert MODEL_TYPES[model_type].description in card.read_text(encoding="utf-8")
    nmt("model", "release", "--model", model, "--output", tmp_path / "tiny.tar.zst")
    (tmp_path / "lines.txt").write_text("w3 strange w5\n\n", encoding="utf-8")
    nmt("translate", tmp_path / "lines.txt", "--model", model, "--output", tmp_path / "out.txt")
    assert (tmp_path / "out.txt").read_text(encoding="utf-8").count("\n") == 2


def assert_perplexity(here: Path, model: Path, test: list[object]) -> None:
    """That of a model, and of it with itself, is exp of the mean NLL that `score` gives its words."""
    pairs = [(one.split(), two.split()) for one, two in read_pairs(here / "source.txt", here / "target.txt")]
    logs = [
        one.log_probability
        for one in score_translations([trained_model.load_model(model, torch.device("cpu"))], pairs, 7)
    ]
    words = sum(len(target) + 1 for _, target in pairs)
    found = here / "perplexity.json"
    for models in (["--model", model], ["--model", model, "--model", model]):
        nmt("test-set", "perplexity", *models, "--name", "tiny", "--seed", 1, *test, "--output", found)
        value = json.loads(found.read_text(encoding="utf-8"))
        assert (value["words"], value["sentences"]) == (words, len(PAIRS))
        assert value["perplexity"] == pytest.approx(math.exp(-sum(logs) / words), rel=1e-4)
