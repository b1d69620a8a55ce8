"""Folders of small models that translate raw text, for tests."""

from pathlib import Path

from nmt.settings.decoding import Decoding, TextSettings
from nmt.settings.model_types import ModelTypeName
from nmt.settings.text import Languages, Tokenization
from nmt.store.model_folder import write_text_settings
from nmt.training.export import export_model
from tests.bitexts import write_bitext
from tests.trainers import train
from tests.training_settings import decoding, model_run

MOSES = Tokenization(escape=True, split_hyphens=False)


def text_settings(search: Decoding | None = None) -> TextSettings:
    """English to French by Moses' rules."""
    search = search or decoding(beam=3, n_best=10, max_length_factor=2, min_length="half")
    return TextSettings(languages=Languages(source="en", target="fr"), tokenization=MOSES, decoding=search)


def trained_model(here: Path, model_type: ModelTypeName = "rnnsearch", seed: int = 5, size: int = 30) -> Path:
    """The folder of a model after a few updates on words w2, w3, ..."""
    here.mkdir(parents=True, exist_ok=True)
    text = write_bitext(here, [([i % 28 + 2, i % 5 + 2], [i % 7 + 2]) for i in range(40)], size)
    run = model_run(updates=10, model_type=model_type).model_copy(update={"seed": seed, "label": model_type})
    folder = here / "model"
    export_model(folder, train(run, text, here / "state"), "updates")
    write_text_settings(folder, text_settings())
    return folder
