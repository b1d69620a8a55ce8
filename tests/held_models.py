"""The models that a playground holds, as folders again: another reader of its format than the page's own."""

from __future__ import annotations

import base64
import json
import re
import zlib
from pathlib import Path

import numpy as np
import torch

from nmt.data.vocabulary import Vocabulary
from nmt.io.files import write_json
from nmt.model.model_folder import SETTINGS, SOURCE_VOCABULARY, TARGET_VOCABULARY, WEIGHTS
from nmt.model.tensors import save_tensors
from nmt.settings.decoding import TextSettings
from nmt.settings.families import FAMILIES
from tests.training_settings import model_run


def held_models(page: Path, place: Path) -> tuple[list[Path], TextSettings, list[list[str]]]:
    """Folders of the models, how they treat text, and the page's sentences, tokens of both sides."""
    found = re.search(r'<script id="data" type="text/plain">([^<]*)<', page.read_text(encoding="utf-8"))
    assert found
    data = zlib.decompress(base64.b64decode(found[1]))
    start = 4 + int.from_bytes(data[:4], "little")
    values = json.loads(data[4:start])
    folders = []
    for model in values["models"]:
        folder = place / model["label"]
        folder.mkdir(parents=True)
        sizes = [int(np.prod(shape)) for _, shape in model["tensors"]]
        halves = np.frombuffer(data, np.uint8, 2 * sum(sizes), start).reshape(2, -1)
        start += 2 * sum(sizes)
        numbers = torch.from_numpy(np.ascontiguousarray(halves.T).view("<f2").astype(np.float32))
        parts = zip(model["tensors"], numbers.split(sizes), strict=True)
        weights = {name: part.view(shape) for (name, shape), part in parts}
        save_tensors(folder / WEIGHTS, weights)
        architecture = FAMILIES[model["family"]].architecture.model_validate(model["architecture"])
        run = model_run(family=model["family"])
        write_json(folder / SETTINGS, run.model_copy(update={"architecture": architecture}).model_dump())
        for side, name in (("source", SOURCE_VOCABULARY), ("target", TARGET_VOCABULARY)):
            Vocabulary([(word, 1) for word in values["vocabulary"][side]]).write(folder / name)
        folders.append(folder)
    assert start == len(data)
    text = {name: values[name] for name in ("languages", "tokenization", "decoding")}
    return folders, TextSettings.model_validate(text), values["clauses"]
