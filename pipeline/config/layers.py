"""Settings in layers: the root's `config.yaml`, extended experiments, the experiment's own, the command line.

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

import yaml
from pydantic import ValidationError

from nmt.errors import UserError
from nmt.io.files import require_regular_file
from nmt.settings.checks import KeyPath, Problem, problems, shortened, shown
from nmt.settings.families import FAMILIES, GatedArchitecture
from pipeline.config.consistency import contradictions
from pipeline.config.schema import Config
from pipeline.config.yaml_text import parse, parsed_or_text

SHARED = {"models": ("architecture", "training"), "systems": ("decoding",)}
"""Blocks at the top of the settings with the defaults for each entry of a catalogue."""

EXTENDS = "extends"
"""Key of an experiment's own settings: the folder of another experiment, whose settings this one starts from."""

PATHS = (
    "mirrors",
    "data_from",
    "released.models",
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


class ConfigError(UserError):
    """The settings have faults.

    Args:
        problems: one line each.
    """

    def __init__(self, problems: Sequence[str]) -> None:
        super().__init__(*problems)
        self.problems = list(problems)


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
        ConfigError: the file is missing, is not YAML or holds no mapping.
    """
    name = os.path.relpath(path)
    name = str(path) if name.startswith(os.path.join("..", "..", "..")) else name
    try:
        require_regular_file(path)
        values = parse(path.read_text(encoding="utf-8"))
    except UserError as error:
        raise ConfigError([str(error)]) from error
    except OSError as error:
        raise ConfigError([f"{name}: cannot be read: {error.strerror}"]) from error
    except UnicodeDecodeError as error:
        raise ConfigError([f"{name}: not UTF-8 text at byte {error.start}"]) from error
    except ValueError as error:
        raise ConfigError([f"{name}: {error}"]) from error
    if not isinstance(values, dict | None):
        raise ConfigError([f"{name}: found {shown(values)}, expected keys with values"])
    return Layer.of(name, path.resolve().parent, values or {})


def find_layers(
    root: Path, directory: Path, files: Iterable[Path] = (), pairs: Mapping[str, Any] | None = None
) -> list[Layer]:
    """Return the layers of a run, weakest first.

    Args:
        root: the paper's `config.yaml`.
        directory: the experiment's folder with its own `config.yaml`, unless it is the root's.
        files: overlays from the command line, in order.
        pairs: keys and values from the command line.

    Raises:
        ConfigError: a file cannot be read, or the folder has none (a mistyped name would be the paper's run).
    """
    if {"{", "}"} & set(str(root.absolute())):
        problem = "braces in the repository's path, which are Snakemake's wildcards: rename the folder"
        raise ConfigError([f"{root.absolute().parent}: {problem}"])
    own = directory / "config.yaml"
    if not os.path.lexists(own):
        hint = "expected an experiment's settings; an empty file stands for the paper's"
        raise ConfigError([f"{directory.resolve()}: no config.yaml here: {hint}"])
    layers = [read_layer(root), *_with_extended(own, root), *map(read_layer, files)]
    if pairs:
        layers.append(Layer.of("--config", directory.resolve(), _reread(pairs)))
    for layer in layers:
        if EXTENDS in layer.values:
            raise ConfigError([f"{layer.name}: {EXTENDS}: only an experiment's own config.yaml can say this"])
    return layers


def module_layers(root: Path, directory: Path, settings: Mapping[str, Any]) -> list[Layer]:
    """Return the layers of a run that another workflow imports: the paper's `config.yaml`, then the module statement.

    Args:
        root: the paper's `config.yaml`.
        directory: where the other workflow runs; paths start there.
        settings: its `config:`, of the form of an experiment's `config.yaml`.
    """
    return [read_layer(root), Layer.of("config of the module", directory.resolve(), settings)]


def _with_extended(own: Path, root: Path, extending: Sequence[Path] = ()) -> list[Layer]:
    """Return the layers of the experiments that this one extends, then its own; none for the root."""
    if own.exists() and own.samefile(root):
        return []
    layer = read_layer(own)
    if EXTENDS not in layer.values:
        return [layer]
    values = dict(layer.values)
    folder = values.pop(EXTENDS)
    where = f"{layer.name}: {EXTENDS}: found {shown(folder)}"
    if not isinstance(folder, str):
        raise ConfigError([f"{where}, expected an experiment's folder"])
    extended, chain = own.resolve().parent / folder / "config.yaml", [*extending, own.resolve()]
    if not extended.is_file():
        raise ConfigError([f"{where}, where there is no config.yaml"])
    if extended.resolve() in chain:
        raise ConfigError([f"{where}, which extends this one in turn"])
    return [*_with_extended(extended, root, chain), Layer(layer.name, values)]


def refuse_unreadable(files: Iterable[Path]) -> None:
    """Raise a `ConfigError` for overlays that would end Snakemake in a traceback.

    It reads them as YAML 1.1 before the workflow's first line runs, where `2014-02-30` is a date that there is not.
    """
    for file in files:
        read_layer(file)
        try:
            yaml.safe_load(file.read_bytes())
        except (ValueError, yaml.YAMLError) as error:
            problem = shortened(" ".join(str(error).split()))
            raise ConfigError([f"{file}: not valid YAML 1.1: {problem}: put it in quotes"]) from None


def _reread(value: Any) -> Any:
    """Return values of the command line as YAML means them: inside of mappings and lists they arrive as mere text."""
    if isinstance(value, Mapping):
        return {key: _reread(inner) for key, inner in value.items()}
    if isinstance(value, list | tuple):
        return [_reread(inner) for inner in value]
    return parsed_or_text(value) if isinstance(value, str) and value else value


def merged(layers: Iterable[Layer]) -> dict[str, Any]:
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


def load(layers: Sequence[Layer]) -> Config:
    """Merge, complete and check the settings.

    Raises:
        ConfigError: every problem found, one line each.
    """
    try:
        config = Config.model_validate(_with_shared_blocks(merged(layers)))
        faults = contradictions(config)
    except ValidationError as error:
        faults = [fault for fault in problems(error, Config) if not _repeats_shared(fault.path, layers)]
    if faults:
        raise ConfigError(sorted({_line(fault, layers) for fault in faults}))
    return config


def _with_shared_blocks(values: Mapping[str, Any]) -> dict[str, Any]:
    """Complete the blocks of each model and system from the shared ones, as far as a model's family has such keys."""
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
            keys = _keys_of_family(entry.get("family")) if block == "architecture" else shared
            own = {**{key: value for key, value in shared.items() if key in keys}, **own}
        completed[block] = own
    return completed


def _keys_of_family(family: Any) -> Container[str]:
    """Return keys of a family's `architecture`; those of the shared one where there is no such family."""
    entry = FAMILIES.get(family) if isinstance(family, str) else None  # type: ignore[call-overload]
    return (entry.architecture if entry else GatedArchitecture).model_fields


def _repeats_shared(path: KeyPath, layers: Sequence[Layer]) -> bool:
    """Return whether an error inside an entry stems from the shared block, which reports it itself."""
    inside = len(path) > 3 and path[2] in SHARED.get(path[0], ())
    return inside and not any(_says(layer.values, path[:4]) for layer in layers)


def _line(problem: Problem, layers: Sequence[Layer]) -> str:
    """Return a problem with the last layer that says its key, or else the nearest key above it."""
    places = (problem.path[:end] for end in range(len(problem.path), 0, -1))
    saying = (layer.name for path in places for layer in reversed(layers) if _says(layer.values, path))
    where = "; say it here or in the root config.yaml" if problem.text == "missing" else ""
    return shortened(f"{next(saying, layers[0].name)}: {problem}{where}", LONGEST_LINE)


def _says(values: Any, path: KeyPath) -> bool:
    """Return whether a layer's values have a key."""
    for key in path:
        if not isinstance(values, Mapping) or key not in values:
            return False
        values = values[key]
    return True
