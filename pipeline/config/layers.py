"""Settings in layers: the defaults, extended experiments, the experiment's own `config.yaml`, the command line.

Later layers win. Mappings are merged key by key; lists and single values are replaced; nothing can be removed. The
merged settings are checked by `Config`, then for contradictions (`pipeline.config.consistency`). Each check reports
all of its problems at once, one line each, with the layer that states the value.
"""

import os
from collections.abc import Container, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self

from pydantic import ValidationError

from nmt.environment import REPOSITORY
from nmt.errors import UserError
from nmt.io.files import read_file
from nmt.settings.base import KeyPath, Problem, format_value, list_problems, shorten
from nmt.settings.model_types import MODEL_TYPES, GatedArchitecture
from nmt.settings.paper import PAPER
from pipeline.config.consistency import find_contradictions
from pipeline.config.schema import Config
from pipeline.config.yaml_text import parse

DEFAULTS = REPOSITORY / "workflow" / "defaults.yaml"
CONFIG_FILE = "config.yaml"
"""An experiment's settings, in its folder."""

SHARED_BLOCKS = {"models": ("architecture", "training"), "systems": ("decoding",)}
"""Blocks at the top of the settings with the defaults for each entry of `models` and `systems`."""

EXTENDS = "extends"
"""Key of an experiment's own settings: the folder of another experiment, whose settings this one starts from."""

PATH_KEYS = (
    "mirrors",
    "data_from",
    "pretrained.models",
    "init_from",
    "artifacts.gold_alignments",
    "artifacts.moses_translations",
    "moses.lm_text",
    "n_best_lists.*",
    "corpora.*.source.file",
    "corpora.*.target.file",
)
"""Keys of paths, or of lists of paths. Paths are relative to the file that states them."""

MAX_LINE_CHARACTERS = 1000
"""Maximum length of an error message. The known keys of the largest block fit into it."""


Values = Mapping[str, Any]
"""Settings that are not validated yet."""


@dataclass(frozen=True)
class Layer:
    """The values of one file, or of the command line. Paths are relative to the working directory."""

    name: str
    """Its name in error messages."""
    values: Values

    @classmethod
    def create(cls, name: str, folder: Path, values: Values) -> Self:
        """Return a layer of values whose paths are still relative to `folder`."""
        for key in PATH_KEYS:
            values = _convert_paths(values, folder, key.split("."))
        return cls(name, values)


def _convert_paths(value: Any, folder: Path, keys: Sequence[str]) -> Any:
    """Return a value whose paths are made relative to the working directory instead of `folder`.

    value: not validated yet, so it may be of any type. keys: the keys that lead to the paths, one for each level of
    `value`, such as ("n_best_lists", "*"); * is any key.
    """
    # at the last level: a path, or a list of paths
    if not keys:
        if isinstance(value, list):
            return [_convert_paths(path, folder, ()) for path in value]
        is_relative_path = isinstance(value, str) and "://" not in value and not os.path.isabs(value)
        return os.path.relpath(folder / value) if is_relative_path else value

    # at another level: the values of the first key
    if not isinstance(value, Mapping):
        return value
    converted = dict(value)
    for key in value:
        if keys[0] in ("*", key):
            converted[key] = _convert_paths(value[key], folder, keys[1:])
    return converted


# --- layers of files and of the command line --------------------------------------------------------------------------


def read_layer(path: Path) -> Layer:
    """Return the values of a YAML file as a layer.

    Raises:
        UserError: the file is missing, is not UTF-8 or YAML, or holds no mapping.
    """
    name = os.path.relpath(path)
    try:
        values = parse(read_file(path).decode())
    except UnicodeDecodeError:
        raise UserError(f"{name}: not UTF-8; save it with this encoding") from None
    except ValueError as error:
        raise UserError(f"{name}: {error}") from None
    if not isinstance(values, dict | None):
        raise UserError(f"{name}: found {format_value(values)}, expected keys with values")
    return Layer.create(name, path.resolve().parent, values or {})


def read_defaults() -> Layer:
    """Return the defaults: the library's settings of models, training and search, and `workflow/defaults.yaml`."""
    layer = read_layer(DEFAULTS)
    library_defaults = {key: PAPER["run"][key] for key in ("architecture", "training")}
    return Layer(layer.name, _merge_deeply(library_defaults | PAPER["text"], layer.values))


def find_layers(directory: Path, files: Iterable[Path] = (), pairs: Values | None = None) -> list[Layer]:
    """Return the layers of a run, weakest first: the defaults, the experiment, the command line.

    Args:
        directory: the experiment's folder with its `config.yaml`.
        files: the files of `--configfile`, in order.
        pairs: the KEY=VALUE pairs of `--config`.

    Raises:
        UserError: a file is missing or cannot be read.
    """
    # 1. files
    if not os.path.lexists(directory / CONFIG_FILE):
        raise UserError(f"{directory.resolve()}: no {CONFIG_FILE} here, expected an experiment's settings")
    layers = [read_defaults()]
    layers += _resolve_extends(read_layer(directory / CONFIG_FILE), directory)
    layers += map(read_layer, files)

    # 2. the command line
    if pairs:
        layers.append(Layer.create("--config", directory.resolve(), _parse_command_line(pairs)))

    return layers


def find_module_layers(directory: Path, settings: Values) -> list[Layer]:
    """Return the layers of a run by another workflow, which imports this one as a module; weakest first.

    They are the defaults, the layers of the experiments that the settings extend, and the settings themselves.

    Args:
        directory: the folder in which the other workflow runs; paths are relative to it.
        settings: the `config:` of the module statement, with the keys of an experiment's `config.yaml`.
    """
    layer = Layer.create("config of the module", directory.resolve(), settings)
    return [read_defaults(), *_resolve_extends(layer, directory)]


def _resolve_extends(layer: Layer, folder: Path, descendants: Sequence[Path] = ()) -> list[Layer]:
    """Return the layers of the experiments that a layer extends, then its own.

    Args:
        layer: the layer of an experiment's `config.yaml`.
        folder: the folder of that file.
        descendants: folders of the experiments that extend this one.
    """
    values = dict(layer.values)
    base_name = values.pop(EXTENDS, None)
    if base_name is None:
        return [layer]

    base_folder = (folder / str(base_name)).resolve()
    problem = f"{layer.name}: {EXTENDS}: found {format_value(base_name)}"
    if not (base_folder / CONFIG_FILE).is_file():
        raise UserError(f"{problem}, expected a folder with {CONFIG_FILE}")

    descendants = [*descendants, folder.resolve()]
    if base_folder in descendants:
        raise UserError(f"{problem}, which extends this one in turn")

    # the layers of the other experiment, then this layer without the key
    base_layers = _resolve_extends(read_layer(base_folder / CONFIG_FILE), base_folder, descendants)
    return [*base_layers, Layer(layer.name, values)]


def _parse_command_line(value: Any) -> Any:
    """Return a value of `--config` with all of its texts parsed as YAML, also those inside mappings and lists."""
    if isinstance(value, Mapping):
        return {key: _parse_command_line(inner_value) for key, inner_value in value.items()}
    if isinstance(value, list | tuple):
        return [_parse_command_line(item) for item in value]
    if not isinstance(value, str) or value == "":
        return value
    try:
        return parse(value)
    except ValueError:  # a text that is not YAML
        return value


# --- merged settings --------------------------------------------------------------------------------------------------


def merge_layers(layers: Iterable[Layer]) -> dict[str, Any]:
    """Return the values of all layers as one tree."""
    values: dict[str, Any] = {}
    for layer in layers:
        values = _merge_deeply(values, layer.values)
    return values


def _merge_deeply(base: Any, override: Any) -> Any:
    """Return two mappings as one, merged at each level. Where both have a value, the value of `override` wins."""
    if not isinstance(override, Mapping):
        return override
    merged_values = dict(base) if isinstance(base, Mapping) else {}
    for key, value in override.items():
        merged_values[key] = _merge_deeply(merged_values.get(key), value)
    return merged_values


def load_config(layers: Sequence[Layer]) -> Config:
    """Merge, complete and check the settings.

    Raises:
        UserError: all problems, one line each.
    """
    try:
        config = Config.model_validate(_fill_entries(merge_layers(layers)))
        problems = find_contradictions(config)
    except ValidationError as error:
        problems = []
        for problem in list_problems(error, Config):
            if not _repeats_shared_error(problem.path, layers):
                problems.append(problem)
    if problems:
        raise UserError(*sorted({_format_problem(problem, layers) for problem in problems}))
    return config


def _fill_entries(values: Values) -> dict[str, Any]:
    """Complete the blocks of each model and system from the shared blocks, with the keys that the model's type has.

    The values are not validated yet, so each may be of any type.
    """
    completed = dict(values)
    for section, blocks in SHARED_BLOCKS.items():
        entries = values.get(section)
        if isinstance(entries, Mapping):
            completed[section] = {name: _fill_entry(entry, blocks, values) for name, entry in entries.items()}
    return completed


def _fill_entry(entry: Any, block_names: Sequence[str], settings: Values) -> Any:
    """Return the entry of a model or system. Keys that its blocks lack come from the shared blocks in `settings`."""
    if not isinstance(entry, Mapping):
        return entry
    completed = dict(entry)
    for name in block_names:
        block, shared_block = entry.get(name, {}), settings.get(name)
        if isinstance(block, Mapping) and isinstance(shared_block, Mapping):
            # a model type has only some keys of the shared architecture
            keys: Container[str] = shared_block
            if name == "architecture":
                keys = _get_architecture_keys(entry.get("model_type"))
            shared_values = {key: value for key, value in shared_block.items() if key in keys}
            block = shared_values | dict(block)
        completed[name] = block
    return completed


def _get_architecture_keys(model_type: Any) -> Container[str]:
    """Return the keys of a model type's `architecture`; if there is no such type, the keys of the shared block."""
    entry = MODEL_TYPES.get(model_type) if isinstance(model_type, str) else None  # type: ignore[call-overload]
    return (entry.architecture if entry else GatedArchitecture).model_fields


# --- messages of problems ---------------------------------------------------------------------------------------------


def _repeats_shared_error(path: KeyPath, layers: Sequence[Layer]) -> bool:
    """Return whether an error in a model or system comes from a shared block, for which it is reported as well."""
    # such as ("models", "rnnsearch-50", "training", "batch_size"), if no layer has this key
    is_in_block = len(path) > 3 and path[2] in SHARED_BLOCKS.get(path[0], ())
    return is_in_block and not any(_has_key(layer.values, path[:4]) for layer in layers)


def _format_problem(problem: Problem, layers: Sequence[Layer]) -> str:
    """Return the line of a problem: the name of the layer that is to be corrected, the key and the text.

    The layer to be corrected is the last one that has the key or, if none has it, the nearest key above it.
    """
    # the defaults, which are the first layer, are never at fault for a missing key
    searched_layers = layers[1:] if problem.text == "missing" else layers
    layer_name = layers[-1].name
    # from the top key down to the key itself: the last layer that is found stays
    for length in range(1, len(problem.path) + 1):
        for layer in searched_layers:
            if _has_key(layer.values, problem.path[:length]):
                layer_name = layer.name
    return shorten(f"{layer_name}: {problem}", MAX_LINE_CHARACTERS)


def _has_key(values: Any, path: KeyPath) -> bool:
    """Return whether the values of a layer have a key."""
    for key in path:
        if not isinstance(values, Mapping) or key not in values:
            return False
        values = values[key]
    return True
