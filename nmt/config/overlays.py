"""Settings in layers: `config.yaml`, an experiment's overlay, files and pairs of the command line.

Later layers win. Mappings are merged key by key, lists and single values are replaced, nothing can be
removed. The merged settings are held against `Config` and against each other (`nmt.config.consistency`);
every problem is reported at once, one line each, with the layer that said it.
"""

from __future__ import annotations

import difflib
import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import UnionType
from typing import Any, Union, get_args, get_origin

import yaml
from pydantic import BaseModel, ValidationError
from pydantic_core import ErrorDetails

from nmt.config.consistency import Problem, contradictions
from nmt.config.schema import Config
from nmt.errors import UserError

KeyPath = tuple[Any, ...]

SHARED = ("architecture", "training")
"""Blocks at the top of the settings from which each model starts."""


class ConfigError(UserError):
    """All that is wrong with the settings.

    Args:
        problems: one line each.
    """

    def __init__(self, problems: Sequence[str]) -> None:
        super().__init__("\n".join(problems))
        self.problems = list(problems)


@dataclass(frozen=True)
class Layer:
    """One file (or the pairs of a command line) and what it says."""

    name: str
    """As error messages name it."""
    folder: Path
    """Where its relative paths start."""
    values: Mapping[str, Any]


class _Loader(yaml.SafeLoader):  # type: ignore[misc]  # PyYAML has no types
    """YAML that refuses a key said twice, of which plain YAML silently keeps the last."""


def _mapping(loader: _Loader, node: yaml.MappingNode) -> dict[Any, Any]:
    seen: set[Any] = set()
    for key_node, _ in node.value:
        key = loader.construct_object(key_node)
        if key in seen:
            raise yaml.constructor.ConstructorError(None, None, f"key said twice: {key}", key_node.start_mark)
        seen.add(key)
    mapping: dict[Any, Any] = loader.construct_mapping(node, deep=True)
    return mapping


_Loader.add_constructor(yaml.resolver.BaseResolver.DEFAULT_MAPPING_TAG, _mapping)


def read_layer(path: Path) -> Layer:
    """Read one YAML file.

    Raises:
        ConfigError: the file is missing, is not YAML or holds no mapping.
    """
    name = os.path.relpath(path)
    name = str(path) if name.startswith(os.path.join("..", "..", "..")) else name
    try:
        values = yaml.load(path.read_text(encoding="utf-8"), Loader=_Loader)
    except OSError as error:
        raise ConfigError([f"{name}: cannot be read: {error.strerror}"]) from error
    except UnicodeDecodeError as error:
        raise ConfigError([f"{name}: not UTF-8 text at byte {error.start}"]) from error
    except yaml.YAMLError as error:
        raise ConfigError([f"{name}{_place(error)}"]) from error
    if not isinstance(values, dict | None):
        raise ConfigError([f"{name}: found {shown(values)}, expected keys with values"])
    return Layer(name, path.resolve().parent, values or {})


def _place(error: yaml.YAMLError) -> str:
    mark = getattr(error, "problem_mark", None)
    line = f", line {mark.line + 1}, column {mark.column + 1}" if mark else ""
    return f"{line}: not valid YAML: {getattr(error, 'problem', None) or error}"


def find_layers(
    root: Path, directory: Path, files: Iterable[Path] = (), pairs: Mapping[str, Any] | None = None
) -> list[Layer]:
    """The layers of a run, weakest first.

    Args:
        root: the paper's `config.yaml`.
        directory: the experiment's folder; its `config.yaml` counts if it is there and another file.
        files: overlays from the command line, in order.
        pairs: keys and values from the command line.
    """
    paths = [root]
    own = directory / "config.yaml"
    if own.exists() and not own.samefile(root):
        paths.append(own)
    layers = [read_layer(path) for path in [*paths, *files]]
    if pairs:
        layers.append(Layer("--config", directory.resolve(), _reread(pairs)))
    return layers


def _reread(value: Any) -> Any:
    """Values of the command line as YAML means them: inside of mappings and lists they arrive as mere text."""
    if isinstance(value, Mapping):
        return {key: _reread(inner) for key, inner in value.items()}
    if isinstance(value, list | tuple):
        return [_reread(inner) for inner in value]
    return yaml.safe_load(value) if isinstance(value, str) and value else value


class Merged:
    """The layers as one tree that remembers who said what."""

    def __init__(self, layers: Iterable[Layer]) -> None:
        self.values: dict[str, Any] = {}
        self._said_by: dict[KeyPath, Layer] = {}
        for layer in layers:
            self._lay(self.values, layer.values, (), layer)

    def _lay(self, base: dict[Any, Any], over: Mapping[Any, Any], path: KeyPath, layer: Layer) -> None:
        for key, value in over.items():
            here = (*path, key)
            self._said_by[here] = layer
            if isinstance(value, Mapping):
                if not isinstance(base.get(key), dict):
                    base[key] = {}
                self._lay(base[key], value, here, layer)
            else:
                base[key] = value

    def said(self, path: KeyPath) -> bool:
        """Whether a layer said this very key."""
        return path in self._said_by

    def layer(self, path: KeyPath) -> Layer | None:
        """The layer that said a key, or else the nearest key above it."""
        for end in range(len(path), 0, -1):
            if path[:end] in self._said_by:
                return self._said_by[path[:end]]
        return None


def load(layers: Sequence[Layer]) -> Config:
    """Merge, complete and check the settings.

    Raises:
        ConfigError: every problem found, one line each.
    """
    merged = Merged(layers)
    values = _with_resolved_paths(merged, _with_shared_blocks(merged.values))
    config, problems = _validated(values, merged)
    problems += contradictions(values)
    if config is None or problems:
        unknown = layers[0].name if layers else "configuration"
        raise ConfigError(sorted({_line(problem, merged, unknown) for problem in problems}))
    return config


def _with_shared_blocks(values: Mapping[str, Any]) -> dict[str, Any]:
    """Complete each model's `architecture` and `training` from the shared ones."""
    models = values.get("models")
    if not isinstance(models, Mapping):
        return dict(values)
    return {**values, "models": {name: _completed(model, values) for name, model in models.items()}}


def _completed(model: Any, values: Mapping[str, Any]) -> Any:
    if not isinstance(model, Mapping):
        return model
    blocks = {}
    for block in SHARED:
        shared, own = values.get(block), model.get(block, {})
        if isinstance(shared, Mapping) and isinstance(own, Mapping):
            own = {**shared, **own}
        blocks[block] = own
    return {**model, **blocks}


def _with_resolved_paths(merged: Merged, values: dict[str, Any]) -> dict[str, Any]:
    """Make paths that are relative to the file that says them relative to the working directory."""
    mirrors, data_from = values.get("mirrors"), values.get("data_from")
    if isinstance(mirrors, list):
        layer = merged.layer(("mirrors",))
        values["mirrors"] = [_seen_from_here(mirror, layer) for mirror in mirrors]
    if isinstance(data_from, str):
        values["data_from"] = _seen_from_here(data_from, merged.layer(("data_from",)))
    released = values.get("released")
    if isinstance(released, dict):
        values["released"] = {
            key: _seen_from_here(path, merged.layer(("released", key))) for key, path in released.items()
        }
    artifacts = values.get("artifacts")
    if isinstance(artifacts, dict):
        files = {name: artifacts.get(name) for name in ("gold_alignments", "moses_translations")}
        values["artifacts"] = artifacts | {
            name: _seen_from_here(path, merged.layer(("artifacts", name)))
            for name, path in files.items()
            if isinstance(path, str)
        }
    return values


def _seen_from_here(path: Any, layer: Layer | None) -> Any:
    if not isinstance(path, str) or "://" in path or os.path.isabs(path) or layer is None:
        return path
    return os.path.relpath(layer.folder / path)


def _validated(values: Mapping[str, Any], merged: Merged) -> tuple[Config | None, list[Problem]]:
    try:
        return Config.model_validate(values), []
    except ValidationError as error:
        details = error.errors(include_url=False)
        return None, [_problem(detail) for detail in details if not _repeats_shared(detail["loc"], merged)]


def _repeats_shared(path: KeyPath, merged: Merged) -> bool:
    """Whether an error inside a model stems from the shared block, which reports it itself."""
    inside = len(path) > 3 and path[0] == "models" and path[2] in SHARED
    return inside and not merged.said(path) and not merged.said(path[:4])


def _problem(detail: ErrorDetails) -> Problem:
    path = tuple(part for part in detail["loc"] if part != "[key]")
    match detail["type"]:
        case "extra_forbidden":
            return Problem(path, f"unknown key{nearest(str(path[-1]), known_keys(path[:-1]))}")
        case "missing":
            return Problem(path, "missing; say it here or in the root config.yaml")
        case "value_error":
            return Problem(path, f"found {shown(detail['input'])}; {detail['ctx']['error']}")
    return Problem(path, f"found {shown(detail['input'])}, expected {_expected(detail)}")


def _expected(detail: ErrorDetails) -> str:
    context = detail.get("ctx", {})
    match detail["type"]:
        case "greater_than_equal":
            return f"{context['ge']} or more"
        case "greater_than":
            return f"more than {context['gt']}"
        case "less_than_equal":
            return f"{context['le']} or less"
        case "string_pattern_mismatch":
            return f"text of the form {context['pattern']}"
    message = detail["msg"].removeprefix("Input should be ").removeprefix("a valid ")
    return message[:1].lower() + message[1:] + _hint(detail["input"], detail["type"])


def _hint(found: Any, kind: str) -> str:
    """What to write instead, where YAML did not read what was meant."""
    if not isinstance(found, str) or kind not in ("float_type", "int_type"):
        return ""
    if isinstance(yaml.safe_load(found), int | float):
        return " (without quotes)"
    try:
        float(found)
    except ValueError:
        return ""
    mantissa, _, exponent = found.lower().partition("e")
    mantissa += "" if "." in mantissa else ".0"
    sign = "" if exponent[:1] in "+-" else "+"
    return f" (YAML reads {found} as text: write {mantissa}e{sign}{exponent})"


def known_keys(path: KeyPath) -> list[str]:
    """The keys that the schema knows at a path; none where names are free."""
    kind: Any = Config
    for part in path:
        if isinstance(kind, type) and issubclass(kind, BaseModel):
            field = kind.model_fields.get(str(part))
            kind = _inner(field.annotation) if field else None
        elif get_origin(kind) is dict:
            kind = _inner(get_args(kind)[1])
        else:
            return []
    return list(kind.model_fields) if isinstance(kind, type) and issubclass(kind, BaseModel) else []


def _inner(kind: Any) -> Any:
    """A type without its `| None`."""
    if get_origin(kind) in (Union, UnionType):
        return next(option for option in get_args(kind) if option is not type(None))
    return kind


def nearest(found: str, known: Sequence[str]) -> str:
    """`; did you mean ...?` and what is known, or nothing where nothing is."""
    if not known:
        return ""
    close = difflib.get_close_matches(found, known, n=1, cutoff=0.6)
    guess = f"; did you mean `{close[0]}`?" if close else ""
    return f"{guess}; known here: {', '.join(known)}"


def shown(value: Any) -> str:
    """A value as a short piece of one line."""
    if isinstance(value, Mapping):
        return "keys " + ", ".join(map(str, value)) if value else "no keys"
    text = repr(value).replace("\n", " ")
    return text if len(text) <= 60 else text[:57] + "..."


def _line(problem: Problem, merged: Merged, unknown: str) -> str:
    layer = merged.layer(problem.path)
    key = ".".join(map(str, problem.path)) or "(top)"
    return f"{layer.name if layer else unknown}: {key}: {problem.text}"
