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
        tensors = {name: (shape, scale) for name, shape, scale in model["tensors"]}
        halves = {name: int(np.prod(shape)) for name, (shape, scale) in tensors.items() if scale is None}
        planes = np.frombuffer(data, np.uint8, 2 * sum(halves.values()), start).reshape(2, -1)
        start += planes.size
        numbers = torch.from_numpy(np.ascontiguousarray(planes.T).view("<f2").astype(np.float32))
        weights = dict(zip(halves, numbers.split(list(halves.values())), strict=True))
        for name, (shape, scale) in tensors.items():
            if scale is not None:
                whole = np.frombuffer(data, np.int8, int(np.prod(shape)), start)
                start += whole.size
                weights[name] = torch.from_numpy(whole.astype(np.float32) * np.float32(scale))
        weights = {name: weights[name].view(shape) for name, (shape, _) in tensors.items()}
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
