"""The settings of a finished run as one file beside its results."""

from pathlib import Path
from typing import Any

from pydantic import Field

from nmt.settings.base import read_settings
from pipeline.config.artifacts import Playground, Release
from pipeline.config.catalogue import hide_secrets
from pipeline.config.experiment import list_archives, list_corpora, list_lm_corpora
from pipeline.config.moses import MosesSettings
from pipeline.config.schema import ClusterResources, Config


class Published(Config):
    """The settings without keys that have no influence on the results of a plain run."""

    mirrors: list[str] = Field(default_factory=list)
    resources: ClusterResources | None = None  # type: ignore[assignment]  # no job runs
    playground: Playground | None = None  # type: ignore[assignment]  # needs the weights
    release: Release | None = None  # type: ignore[assignment]  # needs the weights
    moses: MosesSettings | None = None  # type: ignore[assignment]  # None if it was not measured


def get_published_settings(config: Config) -> dict[str, Any]:
    """Return the merged settings as plain values.

    Entries that the experiment does not select, and keys that change no result, are left out.
    """
    # keys that change no result
    excluded_keys = {"mirrors", "resources", "playground", "release"}
    models = list(config.use.models)
    if not config.measures_moses:
        excluded_keys.add("moses")
    elif config.moses.phrase_model:
        models.append(config.moses.phrase_model)
    values = config.model_dump(exclude=excluded_keys)

    # leave out the entries that the experiment does not select
    corpora = list_corpora(config) + list_lm_corpora(config)
    selected_entries = {
        "archives": list_archives(config, corpora),
        "corpora": corpora,
        "models": models,
        "systems": config.use.systems,
        "rescored": config.use.rescored,
        "n_best_lists": [config.rescored[name].n_best_list for name in config.use.rescored],
    }
    for block, names in selected_entries.items():
        if block in values:
            values[block] = {name: entry for name, entry in values[block].items() if name in names}

    # addresses may contain a password
    for archive in values["archives"].values():
        for source in (archive, *archive.get("alternatives", [])):
            source["url"] = hide_secrets(source["url"])
    return values


def read_published_settings(path: Path) -> Config:
    """Read the file of settings beside results (`get_published_settings`)."""
    return read_settings(Published, path, "expected the settings of a run")
