"""The runs and systems of an experiment, for its rules."""

from collections.abc import Iterable

from pipeline.config.experiment import select_playground_models
from pipeline.config.runs import collect_runs, collect_systems, select_systems, select_text_only_systems
from pipeline.config.schema import Config


class Plan:
    """The runs that an experiment trains, the systems that translate, and those that its results compare."""

    def __init__(self, config: Config, sets: Iterable[str]) -> None:
        self.runs = collect_runs(config)
        """The runs, which are all models of the settings at each of their seeds, by name ({run} in paths)."""
        self.selected_runs = list(collect_runs(config, config.use.models))
        """Names of the runs whose models the results show."""
        self.trained_runs = [] if config.pretrained.models else self.selected_runs
        """Names of the selected runs that this experiment trains: all, or none if it uses pretrained models."""
        self.models_folder = config.pretrained.models or "models"
        """Folder of the models that translate."""
        self.systems = collect_systems(config)
        """The systems that translate with models, by name ({system} in paths): runs, and the selected `systems`."""
        self.selected_systems = list(select_systems(config))
        """Names of the systems that the results compare."""
        self.text_only_systems = {set_name: select_text_only_systems(config, set_name) for set_name in sets}
        """Names of the systems that have only the text of their translations, by set (test or dev)."""
        self.playground_runs = select_playground_models(config)
        """Names of the runs whose weights the playground has."""
