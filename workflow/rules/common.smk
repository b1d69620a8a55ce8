"""The settings, how jobs call `nmt`, and the paths, parameters and resources that rule files share."""

import math
import os
import re
import shlex
import sys
from pathlib import Path

from nmt.config import experiment, projections
from nmt.config.overlays import ConfigError, find_layers, load
from nmt.config.runs import runs_of, seeds_of
from nmt.config.shared_models import shared_models
from nmt.config.snapshot import published
from nmt.config.systems import labels_of, systems_in_use, systems_of
from nmt.data.bitext import BITEXT_FILES
from nmt.decoding.sidecar import beside
from nmt.errors import UserError
from nmt.publish.model_archive import NEEDED
from nmt.publish.replication_package import MODES, RUN_FILES, ReplicationPackage
from nmt.report.papers import read_paper, sets_of
from workflow import gpus, options

ROOT = Path(workflow.basedir)


def refuse(problems):
    """Leave with one line per problem; Snakemake's own traceback would bury them."""
    for problem in problems:
        print(f"error: {problem}", file=sys.stderr)
    sys.exit(2)


try:
    CONFIG = load(
        find_layers(
            ROOT / "config.yaml",
            Path.cwd(),
            workflow.config_settings.configfiles,
            workflow.config_settings.config,
        )
    )
except ConfigError as error:
    refuse(error.problems)
# The papers whose tables and figures are made: what they have and report. Of several the first one has the text.
PAPER_FILES = {
    paper: str(ROOT / "workflow" / "papers" / f"{paper}.yaml") for paper in CONFIG.artifacts.papers
}
try:
    PAPERS = {paper: read_paper(Path(file)) for paper, file in PAPER_FILES.items()}
except UserError as error:
    refuse([f"artifacts.papers: {error}"])
PAPER = next(iter(PAPER_FILES.values()))

# Their tables, each with the file that describes it, and the sets that these show scores of.
PAPER_TABLES = {
    name: (table, PAPER_FILES[paper])
    for paper, found in PAPERS.items()
    for name, table in found.tables.items()
}
SETS = sorted({"test", *(set_ for table, _ in PAPER_TABLES.values() for set_ in sets_of(table))})

if missing := experiment.missing_data(CONFIG, "dev" in SETS):
    other = CONFIG.data_from
    refuse(
        [
            f"data_from: {other} has no {missing[0]}: run that experiment first (snakemake --directory {other} data)"
        ]
    )

# How jobs call `nmt`: with the interpreter that runs Snakemake (an unactivated environment is not on the
# path), or with the one that a software environment brings; the package comes from this repository in both cases. The
# prefix is no part of any job, so that another interpreter makes nothing run again. Every job ends with `| tee -i LOG`, by
# which `nmt` knows the log that its progress is to lie beside.
PYTHON = "python" if workflow.deployment_settings.deployment_method else shlex.quote(sys.executable)
PACKAGE = f"PYTHONPATH={shlex.quote(workflow.basedir)}${{{{PYTHONPATH:+:$PYTHONPATH}}}}"
LOG = 'NMT_LOG="${{BASH_EXECUTION_STRING##*| tee -i }}"'
shell.prefix(f'set -euo pipefail; nmt() {{{{ {PACKAGE} {LOG} {PYTHON} -m nmt "$@"; }}}}; ')

# Whether this Snakemake sends jobs to a cluster: then it counts jobs instead of cores, and is not inside such a job. The
# executor itself is not known yet when rules are read.
SENDS_JOBS = workflow.resource_settings.nodes is not None and not workflow.remote_exec

# On this machine as many jobs compute on GPUs at once as it has GPUs, each on one of its own; `--resources gpu=N` says
# otherwise. Without a GPU, cores are the only limit.
if not SENDS_JOBS and not workflow.remote_exec and (shared_gpus := gpus.share()):
    if "gpu" not in workflow.global_resources:
        workflow.register_resource("gpu", shared_gpus)

# Every model in the catalogue at each of its seeds, by the name that stands for {model} in paths.
RUNS = runs_of(CONFIG, list(CONFIG.models))

USED = list(runs_of(CONFIG, CONFIG.use.models))

# What translates, by the name that stands for {model} in paths of translations and scores: these runs, and the systems in
# use; of them those that the results compare.
SYSTEMS = systems_of(CONFIG)
COMPARED = list(systems_in_use(CONFIG))

SOURCE, TARGET = CONFIG.languages.source, CONFIG.languages.target
TEST = CONFIG.use.test[0]
RANKED = SOURCE if CONFIG.artifacts.rank_of == "source" else TARGET
DATA = os.path.join(CONFIG.data_from, "data") if CONFIG.data_from else "data"

# Corpora that this run prepares itself, and the stages of its training text.
PREPARED = experiment.prepared_corpora(CONFIG)
TRAINING_STAGE = experiment.training_stage(CONFIG)
FINAL_STAGE = experiment.final_stage(CONFIG)

# Somebody's models or translations that take the place of this run's own, and what this run keeps beside its results.
MODELS = CONFIG.released.models or "models"
KEPT = ReplicationPackage(Path(CONFIG.released.results)) if CONFIG.released.results else None
RESULTS = ReplicationPackage(Path("results"))

# Models that the run of `data_from` has trained with the same settings: folders by runs.
SHARED = {} if CONFIG.released.models or KEPT else shared_models(CONFIG, RUNS, Path())

# Translations of each set that another system made and somebody gave.
GIVEN = {
    set_: {"moses": file}
    for set_, file in (
        ("test", CONFIG.artifacts.moses_translations),
        ("dev", CONFIG.artifacts.moses_dev_translations),
    )
    if file
}

# The system that figures show beside the models.
BASELINE = list(GIVEN.get("test", {}))

# Rescored n-best lists, which are translations like these.
if CONFIG.use.rescored:
    GIVEN.setdefault("test", {}).update(
        (name, str(KEPT.given(name)) if KEPT else f"rescored/{name}.{TARGET}") for name in CONFIG.use.rescored
    )


wildcard_constraints:
    archive=".+",
    corpus="[a-z0-9][a-z0-9.-]*",
    language="[a-z]{2}",
    shard="[0-9]+",
    budget="([a-z0-9][a-z0-9.-]*/)?",
    part="train|dev",
    model="[a-z0-9][a-z0-9.-]*",
    mode="all|no_unk",
    set="(dev/)?",


# --- parameters -------------------------------------------------------------------------------------------------------


def constant(settings):
    """A parameter function for settings that are the same for every job of a rule."""
    line = projections.as_json(settings)
    return lambda wildcards: line


def report_settings(wildcards):
    """What the tables and figures show, the models' names, and how the unknown word was decoded."""
    return projections.as_json(projections.report_settings(CONFIG))


def shown_seeds(models):
    """What a figure's caption says of models with several runs, of which the figure shows the first."""
    several = [model for model in models if model in CONFIG.models and len(seeds_of(CONFIG, model)) > 1]
    return ", ".join(
        f"seed {seeds_of(CONFIG, model)[0]} of {CONFIG.models[model].label}" for model in several
    )


# --- paths ------------------------------------------------------------------------------------------------------------


def shards(corpora):
    """Every shard of some corpora as CORPUS/NUMBER."""
    return experiment.shards_of(CONFIG, corpora)


def runs(models):
    """Names of the runs of some models, in the order of the models, then of the seeds."""
    return list(runs_of(CONFIG, models))


def test_tokens(language):
    """One side of the tokenized test text."""
    return str(KEPT.test(language)) if KEPT else f"{DATA}/tokens/{TEST}/0.{language}.zst"


def set_tokens(set_, language):
    """One side of a tokenized set that is translated: the test text, or the whole development text."""
    if set_ == "test":
        return test_tokens(language)
    return str(KEPT.dev(language)) if KEPT else f"data/dev.{language}.zst"


def set_of(wildcards):
    """The set that a path is of: {set} is a folder, none for the test set."""
    return os.path.dirname(wildcards.set) or "test"


def folder_of(set_):
    """The inverse: what stands for {set} in paths."""
    return "" if set_ == "test" else f"{set_}/"


def scores_of(systems, set_="test"):
    """The scores of some runs or other systems on a set."""
    return [f"scores/{folder_of(set_)}{system}.json" for system in systems]


def vocabulary(language):
    """The words of a language by rank: those of the text, or of the first model in use where that is somebody else's."""
    if KEPT:
        return str(KEPT.vocabulary(language))
    side = "source" if language == SOURCE else "target"
    return f"{MODELS}/{USED[0]}/{side}.tsv" if CONFIG.released.models else f"{DATA}/vocabulary/{language}.tsv"


def perplexities():
    """The systems' perplexities on the test set, where a table shows them."""
    wanted = COMPARED if tables_of("perplexity") else []
    return [str(KEPT.perplexity(system)) if KEPT else f"perplexity/{system}.json" for system in wanted]


def raw_reference():
    """The reference as it came; none where it came as tokens."""
    if CONFIG.corpora[TEST].tokenized:
        return []
    return str(KEPT.raw_reference(TARGET)) if KEPT else f"{DATA}/raw/{TEST}/0.{TARGET}.zst"


def gold_alignments():
    """The known word alignments of the test text; none where nobody knows them."""
    if KEPT:
        return str(KEPT.gold) if KEPT.gold.is_file() else []
    generated = f"{DATA}/raw/{TEST}/0.align.zst" if CONFIG.corpora[TEST].grammar else []
    return CONFIG.artifacts.gold_alignments or generated


def model_folder(run):
    """Where a run's model lies: here, or where somebody has trained it."""
    return SHARED.get(run, f"{MODELS}/{run}")


def model_files_of(runs):
    """What a command needs of trained models."""
    names = ("model.safetensors", "settings.json", "source.tsv", "target.tsv")
    return [f"{model_folder(run)}/{name}" for run in runs for name in names]


def model_files(wildcards):
    """What a command needs of the members of the system that stands for {model}."""
    return model_files_of(SYSTEMS[wildcards.model].members)


def run_files(runs, name):
    """One of the files that training leaves, of some runs."""
    return [str(KEPT.of_run(run, name)) if KEPT else f"{model_folder(run)}/{name}" for run in runs]


def translated(system, mode, set_="test"):
    """A system's translations of a set; a run's name is a system's, too."""
    if KEPT:
        return str(KEPT.translations(system, mode, set_))
    return f"translations/{folder_of(set_)}{system}.{mode}.jsonl"


def translations_of(systems, set_="test"):
    """The translations of some systems, of both modes each."""
    return [translated(system, mode, set_) for system in systems for mode in MODES]


def making_of(systems, set_="test"):
    """What made the translations of some systems, of both modes each."""
    return [str(beside(Path(file))) for file in translations_of(systems, set_)]


def aligned(run):
    """A run's attention while it is made to write the reference."""
    return str(KEPT.alignments(run)) if KEPT else f"alignments/{run}.jsonl"


def tables_of(kind):
    """The papers' tables of a kind, each with its paper's file."""
    return {name: entry for name, entry in PAPER_TABLES.items() if entry[0].kind == kind}


def measured_runs():
    """Runs of the models in use that are held against known alignments."""
    return experiment.aligned_runs(CONFIG) if gold_alignments() else []


def absent():
    """What `released` promises and does not hold, one line per file."""
    used = runs(CONFIG.use.models)
    files = [file for name in RUN_FILES for file in run_files(used, name)]
    if KEPT:
        key, again = "results", "expected what `nmt package-results` writes"
        text = [set_tokens(set_, language) for set_ in SETS for language in (SOURCE, TARGET)]
        for set_ in SETS:
            files += [*translations_of(COMPARED, set_), *making_of(COMPARED, set_)]
        files += [*text, *([raw_reference()] if raw_reference() else []), *map(aligned, measured_runs())]
    else:
        key, again = "models", "expected what `nmt unpack` writes"
        names = ("model.safetensors", "source.tsv", "target.tsv")
        files += [file for name in names for file in run_files(used, name)]
    return [f"released.{key}: {file}: no such file; {again}" for file in files if not Path(file).is_file()]


if (CONFIG.released.models or KEPT) and (missing_files := absent()):
    refuse(missing_files)


# --- resources --------------------------------------------------------------------------------------------------------

# MB of a data job that holds more than a few lines at a time.
DATA_MEMORY = 1000 * CONFIG.resources.data_memory_gb

# Minutes beyond which an attempt that is repeated asks for no more time: a partition may not grant it, and the job would
# wait for ever. What resumes where its limit stopped it (training, decoding, the sweep) asks for the same at every
# attempt.
LONGEST_REPETITION = 24 * 60


def memory(megabytes, per_input=0):
    """Memory in MB: some, and so many times the input's size; as much again with every attempt."""
    return lambda wildcards, input, attempt: attempt * round(
        megabytes + (per_input * input.size_mb if per_input else 0)
    )


def decoding_memory(wildcards, input, attempt):
    """Memory in MB: of a single model as of any data job, of several with their weights besides."""
    several = len(SYSTEMS[wildcards.model].members) > 1
    return memory(DATA_MEMORY, per_input=several)(wildcards, input, attempt)


def minutes(some, per_gigabyte=0):
    """A time limit: some minutes, some for every GB of (compressed) input; as much again with every attempt, to a day."""

    def limit(wildcards, input, attempt):
        first = round(some + (per_gigabyte * input.size_mb / 1000 if per_gigabyte else 0))
        return max(first, min(attempt * first, LONGEST_REPETITION))

    return limit


def gpu_of(device):
    """One GPU per job, unless the settings say that it computes on the processor."""
    return 0 if device == "cpu" else 1
