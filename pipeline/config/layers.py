"""Settings in layers: the defaults, extended experiments, the experiment's own `config.yaml`, the command line.

Later layers win. Mappings are merged key by key; lists and single values are replaced; nothing can be removed. The
merged settings are checked by `Config`, then for contradictions (`pipeline.config.consistency`). Each check reports
all of its problems at once, one line each, with the layer that states the value.
"""

from __future__ import annotations

import os
from collections.abc import Container, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from nmt.environment import REPOSITORY
from nmt.errors import UserError
from nmt.io.files import require_regular_file
from nmt.settings.base import KeyPath, Problem, problems, shortened, shown
from nmt.settings.model_types import MODEL_TYPES, GatedArchitecture
from pipeline.config.consistency import contradictions
from pipeline.config.schema import Config
from pipeline.config.yaml_text import parse, parse_or_keep

DEFAULTS = REPOSITORY / "workflow" / "defaults.yaml"
CONFIG_FILE = "config.yaml"
"""An experiment's settings, in its folder."""

SHARED = {"models": ("architecture", "training"), "systems": ("decoding",)}
"""Blocks at the top of the settings with the defaults for each entry of a catalogue."""

EXTENDS = "extends"
"""Key of an experiment's own settings: the folder of another experiment, whose settings this one starts from."""

PATHS = (
    "mirrors",
    "data_from",
    "pretrained.models",
    "artifacts.gold_alignments",
    "artifacts.moses_translations",
    "artifacts.moses_dev_translations",
    "moses.lm_text",
    "n_best_lists.*",
    "corpora.*.source.file",
    "corpora.*.target.file",
)
"""Keys of paths, or of lists of paths. Paths are relative to the file that states them."""

LONGEST_LINE = 1000
"""Characters of a message: room for the known keys of the largest block."""


@dataclass(frozen=True)
class Layer:
    """One file (or the pairs of a command line) and its values; paths start at the working directory."""

    name: str
    """Its name in error messages."""
    values: Mapping[str, Any]

    @classmethod
    def of(cls, name: str, folder: Path, values: Mapping[str, Any]) -> Layer:
        """Return a layer whose relative paths start in `folder`."""
        for path in PATHS:
            values = _seen_from_here(values, folder, path.split("."))
        return cls(name, values)


def _seen_from_here(value: Any, folder: Path, keys: Sequence[str]) -> Any:
    """Return a value, which may be faulty, with the paths at some keys below it as seen from the working directory."""
    if keys:
        if not isinstance(value, Mapping):
            return value
        first, *others = keys
        return {
            key: _seen_from_here(inner, folder, others) if first in ("*", key) else inner
            for key, inner in value.items()
        }
    if isinstance(value, list):
        return [_seen_from_here(each, folder, ()) for each in value]
    if not isinstance(value, str) or "://" in value or os.path.isabs(value):
        return value
    return os.path.relpath(folder / value)


def read_layer(path: Path) -> Layer:
    """Read one YAML file.

    Raises:
        UserError: the file is missing, is not YAML or holds no mapping.
    """
    name = os.path.relpath(path)
    name = str(path) if name.startswith(os.path.join("..", "..", "..")) else name
    require_regular_file(path)
    try:
        values = parse(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise UserError(f"{name}: cannot be read: {error.strerror}") from None
    except ValueError as error:
        raise UserError(f"{name}: {error}") from None
    if not isinstance(values, dict | None):
        raise UserError(f"{name}: found {shown(values)}, expected keys with values")
    return Layer.of(name, path.resolve().parent, values or {})


def find_layers(
    directory: Path, files: Iterable[Path] = (), pairs: Mapping[str, Any] | None = None
) -> list[Layer]:
    """Return the layers of a run, weakest first: the defaults, the experiment, what the command line adds.

    Args:
        directory: the experiment's folder with its `config.yaml`.
        files: of `--configfile`, in order.
        pairs: of `--config`.

    Raises:
        UserError: a file cannot be read, or the folder has none.
    """
    if not os.path.lexists(directory / CONFIG_FILE):
        raise UserError(f"{directory.resolve()}: no {CONFIG_FILE} here, expected an experiment's settings")
    layers = [read_layer(DEFAULTS), *_extended_by(read_layer(directory / CONFIG_FILE), directory)]
    layers += map(read_layer, files)
    if pairs:
        layers.append(Layer.of("--config", directory.resolve(), _reread(pairs)))
    for layer in layers:
        if EXTENDS in layer.values:
            raise UserError(f"{layer.name}: {EXTENDS}: only an experiment's own {CONFIG_FILE} can say this")
    return layers


def find_module_layers(directory: Path, settings: Mapping[str, Any]) -> list[Layer]:
    """Return the layers of a run that another workflow imports: the defaults, then the module statement.

    Args:
        directory: where the other workflow runs; paths start there.
        settings: its `config:`, of the form of an experiment's `config.yaml`.
    """
    own = Layer.of("config of the module", directory.resolve(), settings)
    return [read_layer(DEFAULTS), *_extended_by(own, directory)]


def _extended_by(layer: Layer, folder: Path, chain: Sequence[Path] = ()) -> list[Layer]:
    """Return the layers of the experiments that a layer extends, then its own.

    Args:
        layer: that of an experiment.
        folder: where it lies.
        chain: folders of the experiments that extend this one.
    """
    if EXTENDS not in layer.values:
        return [layer]
    named, chain = layer.values[EXTENDS], [*chain, folder.resolve()]
    where = f"{layer.name}: {EXTENDS}: found {shown(named)}"
    if not isinstance(named, str):
        raise UserError(f"{where}, expected an experiment's folder")
    other = folder.resolve() / named
    if not (other / CONFIG_FILE).is_file():
        raise UserError(f"{where}, where there is no {CONFIG_FILE}")
    if other.resolve() in chain:
        raise UserError(f"{where}, which extends this one in turn")
    own = Layer(layer.name, {key: value for key, value in layer.values.items() if key != EXTENDS})
    return [*_extended_by(read_layer(other / CONFIG_FILE), other, chain), own]


def _reread(value: Any) -> Any:
    """Return values of the command line as YAML means them: inside of mappings and lists they arrive as mere text."""
    if isinstance(value, Mapping):
        return {key: _reread(inner) for key, inner in value.items()}
    if isinstance(value, list | tuple):
        return [_reread(inner) for inner in value]
    return parse_or_keep(value) if isinstance(value, str) and value else value


def merge_layers(layers: Iterable[Layer]) -> dict[str, Any]:
    """Return the layers as one tree."""
    values: dict[str, Any] = {}
    for layer in layers:
        values = _laid_over(values, layer.values)
    return values


def _laid_over(base: Any, over: Any) -> Any:
    if not isinstance(over, Mapping):
        return over
    below = base if isinstance(base, Mapping) else {}
    return {**below, **{key: _laid_over(below.get(key), value) for key, value in over.items()}}


def load_config(layers: Sequence[Layer]) -> Config:
    """Merge, complete and check the settings.

    Raises:
        UserError: every problem found, one line each.
    """
    try:
        config = Config.model_validate(_with_shared_blocks(merge_layers(layers)))
        faults = contradictions(config)
    except ValidationError as error:
        faults = [fault for fault in problems(error, Config) if not _repeats_shared(fault.path, layers)]
    if faults:
        raise UserError(*sorted({_line(fault, layers) for fault in faults}))
    return config


def _with_shared_blocks(values: Mapping[str, Any]) -> dict[str, Any]:
    """Complete the blocks of each model and system from the shared ones, as far as a model's type has such keys."""
    completed = dict(values)
    for catalogue, blocks in SHARED.items():
        entries = values.get(catalogue)
        if isinstance(entries, Mapping):
            completed[catalogue] = {
                name: _completed(entry, blocks, values) for name, entry in entries.items()
            }
    return completed


def _completed(entry: Any, blocks: Sequence[str], values: Mapping[str, Any]) -> Any:
    if not isinstance(entry, Mapping):
        return entry
    completed = dict(entry)
    for block in blocks:
        shared, own = values.get(block), entry.get(block, {})
        if isinstance(shared, Mapping) and isinstance(own, Mapping):
            keys = _keys_of_model_type(entry.get("model_type")) if block == "architecture" else shared
            own = {**{key: value for key, value in shared.items() if key in keys}, **own}
        completed[block] = own
    return completed


def _keys_of_model_type(model_type: Any) -> Container[str]:
    """Return keys of a model type's `architecture`; those of the shared one where there is no such model type."""
    entry = MODEL_TYPES.get(model_type) if isinstance(model_type, str) else None  # type: ignore[call-overload]
    return (entry.architecture if entry else GatedArchitecture).model_fields


def _repeats_shared(path: KeyPath, layers: Sequence[Layer]) -> bool:
    """Return whether an error inside an entry stems from the shared block, which reports it itself."""
    inside = len(path) > 3 and path[2] in SHARED.get(path[0], ())
    return inside and not any(_says(layer.values, path[:4]) for layer in layers)


def _line(problem: Problem, layers: Sequence[Layer]) -> str:
    """Return a problem with the last layer that says its key, or else the nearest key above it.

    What is missing is not looked for in the first layer, the defaults.
    """
    places = (problem.path[:end] for end in range(len(problem.path), 0, -1))
    asked = layers[:0:-1] if problem.text == "missing" else layers[::-1]
    saying = (layer.name for path in places for layer in asked if _says(layer.values, path))
    return shortened(f"{next(saying, layers[-1].name)}: {problem}", LONGEST_LINE)


def _says(values: Any, path: KeyPath) -> bool:
    """Return whether a layer's values have a key."""
    for key in path:
        if not isinstance(values, Mapping) or key not in values:
            return False
        values = values[key]
    return True
