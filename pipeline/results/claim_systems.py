"""The systems of a paper's claims in a run, found by their settings."""

from collections.abc import Mapping

from pipeline.config.runs import SEED_SUFFIX
from pipeline.config.schema import Config
from pipeline.results.paper_claims import (
    EnsembleRole,
    ListsRole,
    ModelRole,
    NamedRole,
    RescoredRole,
    Role,
)


def find_system(role: Role, roles: Mapping[str, Role], config: Config) -> str | None:
    """Return the name of the model or system that has a role; None if the run has none.

    The name of a `NamedRole` is returned even if the run has no such system. roles: all roles of the paper by name.
    """
    match role:
        case ModelRole():
            return find_model(role, config)
        case EnsembleRole():
            model = find_system(roles[role.ensemble_of], roles, config)
            for name in config.use.systems:
                system = config.systems[name]
                if _are_runs_of(system.members, model, role.members) and system.decoding.beam == role.beam:
                    return name
            return None
        case RescoredRole():
            model = find_system(roles[role.rescored_by], roles, config)
            for name in config.use.rescored:
                if _are_runs_of(config.rescored[name].members or [], model, role.members):
                    return name
            return None
        case ListsRole():
            systems_with_lists = [config.rescored[name].n_best_list for name in config.use.rescored]
            return systems_with_lists[0] if systems_with_lists else None
        case NamedRole():
            return role.name


def find_model(role: ModelRole, config: Config) -> str | None:
    """Return the first model in use with the settings of a role; None if there is none."""
    # 1. the models of the role's kind; only LSTMs have an order and layers
    models = {}
    for name in config.use.models:
        model = config.models[name]
        has_type = model.model_type == role.model_type
        is_continued = bool(model.continue_from)
        has_order = role.source_order in (None, getattr(model.architecture, "source_order", None))
        if has_type and is_continued == role.continued and has_order:
            models[name] = model

    # 2. the first of them that has the limit and the depth; "shorter" and "longer" need two different limits
    limits = sorted({model.max_words for model in models.values()})
    possible_limits = {
        None: limits,
        "shortest": limits[:1],
        "shorter": limits[:-1][:1],
        "longest": limits[-1:],
        "longer": limits[1:][-1:],
    }
    depths = {name: getattr(model.architecture, "layers", 1) for name, model in models.items()}
    for name, model in models.items():
        is_depth = depths[name] == max(depths.values()) - role.fewer_layers
        if is_depth and model.max_words in possible_limits[role.limit]:
            return name
    return None


def _are_runs_of(members: list[str], model: str | None, count: int) -> bool:
    """Return whether members are `count` runs of the model: lstm and lstm.seed-2 are two runs of lstm."""
    return len(members) == count and all(SEED_SUFFIX.sub("", member) == model for member in members)
