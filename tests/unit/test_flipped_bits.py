"""One bit of what a run has made is another: whoever reads it says so, and no number follows from it."""

import random
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
import torch

from nmt.data.bitext import Bitext
from nmt.data.meta import ARRAYS
from nmt.decoding.sentence_sets import translate_file
from nmt.errors import UserError
from nmt.evaluation.translations import (
    initial_provenance,
    read_translations,
    write_provenance,
)
from nmt.store import trained_model
from nmt.training import checkpoint
from nmt.training.trainer import Trainer
from tests.bitexts import write_text
from tests.trainers import training_files
from tests.training_settings import model_run
from tests.translators import text_settings
from tests.translators import trained_model as train

CPU = torch.device("cpu")
FLIPS = 6
"""Of each file, at places drawn with the number of the flip."""


def read_text(folder: Path) -> None:
    Trainer(model_run(), training_files(Bitext(folder / "bitext")), folder / "state")


def read_model(folder: Path) -> None:
    trained_model.load_model(folder / "model", CPU)


def read_decoded(folder: Path) -> None:
    list(read_translations(folder / "out.jsonl"))


def read_state(folder: Path) -> None:
    checkpoint.read_checkpoint(folder / "model" / "final_state.safetensors")


FILES: dict[str, Callable[[Path], None]] = {
    **{f"bitext/{name}": read_text for name in ARRAYS},
    "source.tsv": read_text,
    "model/model.safetensors": read_model,
    "model/source.tsv": read_model,
    "model/target.tsv": read_model,
    "model/final_state.safetensors": read_state,
    "out.jsonl": read_decoded,
}


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A bitext, a model trained on it, and translations by it."""
    folder = tmp_path_factory.mktemp("made")
    model = trained_model.load_model(train(folder), CPU)
    write_text(folder / "test", ("w3 w4", "w5", "w6 w7 w8"))
    decoding = text_settings().decoding
    output = folder / "out.jsonl"
    record = initial_provenance("all", decoding, [folder / "model" / "model.safetensors"], "CPU")
    record |= translate_file([model], folder / "test", None, "all", decoding, output)
    write_provenance(record, output)
    return folder


@pytest.mark.parametrize("number", range(FLIPS))
@pytest.mark.parametrize("file", FILES)
def test_a_flipped_bit_is_never_silent(made, tmp_path, file, number):
    shutil.copytree(made, tmp_path / "made")
    FILES[file](tmp_path / "made")  # untouched, it is read
    path = tmp_path / "made" / file
    content = bytearray(path.read_bytes())
    drawn = random.Random(number)
    content[drawn.randrange(len(content))] ^= 1 << drawn.randrange(8)
    path.write_bytes(content)
    with pytest.raises(UserError) as error:
        FILES[file](tmp_path / "made")
    assert "\n" not in str(error.value)
