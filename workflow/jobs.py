"""The settings, inputs and requests of each job. Snakemake calls these functions with the wildcards of the job.

Snakemake compares the parameters of a job with those of the last run, and repeats the job if they differ. For this
alone, rules have parameters `rerun_if_..._change`. Snakemake does not compare a parameter whose function takes `input`.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pipeline.config.experiment as experiment
import pipeline.config.job_settings as job_settings
from nmt.settings.training import Training
from nmt.store.model_folder import NEEDED_FILES, SUMMARY
from pipeline.config.schema import Config
from workflow import cluster, options
from workflow.paths import Paths
from workflow.plan import Plan

MAX_REPEATED_MINUTES = 24 * 60
"""Maximum time limit of a repeated job, since a partition might never grant more. Jobs whose time limit is a setting
request the same at every attempt."""


def no_rerun_if_changed(value: Any) -> Callable[..., Any]:
    """Return a parameter with this value. If the value changes, Snakemake does not repeat the job."""
    return lambda wildcards, input: value


def literal_text(text: str) -> Callable[..., str]:
    """Return a parameter with this text. In a plain text Snakemake would take braces for wildcards."""
    return lambda wildcards: text


def scale_memory(megabytes: float, per_input_mb: float = 0) -> Callable[..., int]:
    """Return the memory of a job in MB: a base, and `per_input_mb` MB for each MB of its input.

    If the job fails, its second attempt requests twice as much, the third three times as much.
    """

    def request_memory(wildcards: Any, input: Any, attempt: int) -> int:
        input_mb = input.size_mb if per_input_mb else 0
        return attempt * round(megabytes + per_input_mb * input_mb)

    return request_memory


def scale_minutes(base: float, per_input_gb: float = 0) -> Callable[..., int]:
    """Return the time limit of a job: a base, and `per_input_gb` minutes for each GB of (compressed) input.

    If the job fails, its second attempt requests twice as much, the third three times as much, but at most a day.
    """

    def request_minutes(wildcards: Any, input: Any, attempt: int) -> int:
        input_gb = input.size_mb / 1000 if per_input_gb else 0
        minutes = round(base + per_input_gb * input_gb)
        repeated_minutes = min(attempt * minutes, MAX_REPEATED_MINUTES)
        return max(minutes, repeated_minutes)

    return request_minutes


def format_folder_option(name: str, files: list[str] | None) -> str:
    """Return the option with the folder of some files, which all lie in it; "" if there are none."""
    return options.format_option(name, Path(files[0]).parent) if files else ""


def count_gpus(device: str) -> int:
    """Return the GPUs of a job: 1, or 0 if the settings say that it computes on the processor."""
    return 0 if device == "cpu" else 1


@dataclass(eq=False)
class Jobs:
    """Functions for `input`, `params`, `threads`, `priority` and `resources` of the rules."""

    config: Config
    plan: Plan
    paths: Paths
    cores: int
    """The number of cores that jobs on this machine share."""
    gpus: int
    """The number of GPUs that jobs on this machine share; 0 if there are none, or if jobs are submitted."""

    def __post_init__(self) -> None:
        config, plan, paths = self.config, self.plan, self.paths
        self.data_memory = 1000 * config.resources.data_memory_gb
        """MB of a data job that holds more than a few lines at a time."""

        # requests of jobs with trained models; only translation has settings of its own
        self.model_threads = self.count_cores(config.decoding.threads)
        self.model_resources = {
            "gpu": count_gpus(config.decoding.device),
            "mem_mb": scale_memory(self.data_memory, per_input_mb=1),
            "runtime": math.ceil(60 * config.resources.translate_hours),
        }
        decoding_options = config.decoding.model_dump(include={"batch_size", "threads", "device"})
        self.decoding_options = no_rerun_if_changed(options.format_options(decoding_options.items()))
        self.pretrained_model_stamps = []
        """Stamps of pretrained models. Snakemake does not notice if an older model takes the place of one."""
        if config.pretrained.models:
            files = paths.model_files(plan.selected_runs)
            # weights of two releases may have the same size and date, but the summary contains their checksum
            files += [f"{paths.model_folder(run)}/{SUMMARY}" for run in plan.selected_runs]
            self.pretrained_model_stamps = job_settings.get_file_stamps(files)

    # --- processors and GPUs ------------------------------------------------------------------------------------

    def count_cores(self, threads: int) -> int:
        """Return the cores that Snakemake reserves for a job with so many threads.

        With several GPUs they are fewer than the threads, so that a lack of cores leaves no GPU idle. The job computes
        with all of its threads, whatever Snakemake reserves.
        """
        if self.gpus < 2:
            return threads
        return min(threads, max(1, self.cores // self.gpus))

    def shard_threads(self, corpus: str) -> int:
        """Return the number of shards of a corpus that a job works on at the same time."""
        return min(4, self.config.corpora[corpus].shards)

    def list_rules_without_gpu(self) -> list[str]:
        """Return the rules that a profile sends to the partition with GPUs, although none of their jobs uses one."""
        config = self.config
        training_devices = [config.models[model].training.device for model in config.use.models]
        system_devices = [system.decoding.device for system in self.plan.systems.values()]
        devices = {
            "train": training_devices,
            "train_on_phrases": training_devices,
            "translate": system_devices,
        }
        for rule_name in ("align", "perplexity", "vectors", "rescore", "moses_phrase_scores"):
            devices[rule_name] = [config.decoding.device]
        return [rule_name for rule_name, rule_devices in devices.items() if set(rule_devices) == {"cpu"}]

    # --- text ---------------------------------------------------------------------------------------------------

    def user_file_stamps(self, wildcards: Any) -> list[list[Any]]:
        """Return stamps of the user's own files. Snakemake does not notice if an older file takes the place of one."""
        return job_settings.get_file_stamps(file for _, file in experiment.collect_named_files(self.config))

    def vocabulary_of_initial_model(self, wildcards: Any) -> list[str]:
        """Return the vocabulary of the model with whose weights the trainings begin; an empty list if there is none."""
        if self.config.init_from is None:
            return []
        return [self.paths.model_vocabulary(self.config.init_from, wildcards.language)]

    # --- selection ----------------------------------------------------------------------------------------------

    def language_model_text(self, wildcards: Any) -> list[str]:
        """Return the text of a language model: the in-domain corpora, or the sample of the training text."""
        if wildcards.domain == "in":
            return self.in_domain_text(wildcards.language)
        return [f"data/selection/lm/out.{wildcards.language}.zst"]

    def language_model_vocabulary_text(self, wildcards: Any) -> list[str]:
        """Return the text whose words are a language model's vocabulary; an empty list if it is not limited."""
        if self.config.selection.lm_vocabulary == "in_domain":
            return self.in_domain_text(wildcards.language)
        return []

    def in_domain_text(self, language: str) -> list[str]:
        """Return one side of the in-domain corpora."""
        return self.paths.token_files(experiment.list_in_domain_corpora(self.config), language)

    def budget_scores(self, wildcards: Any) -> list[str]:
        """Return the scores of all corpora that share a word budget."""
        corpora = job_settings.get_budget_settings(self.config, wildcards.budget)["corpora"]
        return [f"data/selection/{shard}.scores.npy" for shard in self.paths.list_shards(corpora)]

    # --- training -----------------------------------------------------------------------------------------------

    def base_files(self, wildcards: Any) -> list[str]:
        """Return the files that a run needs of its base, the run that it continues; an empty list without a base.

        One of them is the summary of the base. If the base is trained again, its summary changes, and Snakemake repeats
        this training, too.
        """
        base = self.plan.runs[wildcards.run].base
        if base is None:
            return []
        return [f"models/{base}/final_state.safetensors", f"models/{base}/summary.json"]

    def initial_model_files(self, wildcards: Any) -> list[str]:
        """Return the files of the model with whose weights a run begins; an empty list if there is none."""
        if self.config.init_from is None or self.plan.runs[wildcards.run].base:
            return []
        return [f"{self.config.init_from}/{name}" for name in NEEDED_FILES]

    def nice_option(self, wildcards: Any) -> str:
        """Return the option of sbatch that gives less urgent trainings a lower priority."""
        priority = cluster.get_priority(self.config, self.plan.runs[wildcards.run])
        return f"--nice={10 * (cluster.HIGHEST_PRIORITY - priority)}"

    def get_training(self, run: str) -> Training:
        """Return the settings `training` of a run's model."""
        return self.config.models[self.plan.runs[run].model].training

    # --- translation and scores ---------------------------------------------------------------------------------

    def list_model_arguments(self, system: Any) -> list[str]:
        """Return the arguments after `--model` for the models of a system, or of an entry of `rescored`."""
        first_folder, *other_folders = map(self.paths.model_folder, system.members)
        arguments = [first_folder]
        for folder in other_folders:
            arguments += ["--model", folder]
        if other_folders:
            arguments += ["--average", system.average]
        return arguments

    def system_options(self, wildcards: Any) -> str:
        """Return the options with a system's name and seed, which `nmt` writes next to its scores."""
        system = self.plan.systems[wildcards.system]
        return options.format_options([("name", system.model), ("seed", system.seed)])

    def select_moses_settings(self, *keys: str) -> dict[str, Any]:
        """Return the settings of a job of Moses: these keys of the block `moses`."""
        return self.config.moses.model_dump(include=set(keys))
