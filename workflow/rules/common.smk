"""The settings, what follows from them for all rule files, and how jobs call `nmt`."""

import math
import os
import re
import shlex
import sys
from pathlib import Path

import pipeline.config.experiment as experiment
import pipeline.config.job_settings as job_settings
from pipeline.config.consistency import PHRASE_BASED, WITH_PHRASE_MODEL
from pipeline.config.layers import find_layers, load, module_layers
from pipeline.config.runs import differing_in_models, runs_of, seeds_of, systems_in_use, systems_of
from pipeline.config.finished_models import shared_models
from pipeline.config.snapshot import page_settings, published
from nmt.data import BITEXT_FILES
from nmt.evaluation.translations import record_path
from nmt.errors import UserError
from nmt.store.model_folder import MODEL, RECORDS, RELEASED, TEXT
import pipeline.phrase_based.programs as phrase_based
from pipeline.results.package import MODES, ReplicationPackage
from pipeline.results.artifacts import COMPARISON, TREE, artifacts
from pipeline.results.papers import read_paper, sets_of
from workflow import internals, gpus, options, recorded

# Where papers and captions lie, as seen from an experiment of the checkout: moving both is no reason to make anything again.
WORKFLOW = ROOT / "workflow"
if Path.cwd().is_relative_to(ROOT):
    WORKFLOW = Path(os.path.relpath(WORKFLOW))


def refuse(problems):
    """Leave with one line per problem; Snakemake's own traceback would bury them."""
    for problem in problems:
        print(f"error: {problem}", file=sys.stderr)
    sys.exit(2)


try:
    CONFIG = load(
        find_layers(
            Path.cwd(),
            internals.of(workflow, "config files"),
            internals.of(workflow, "config"),
        )
        if Path(workflow.main_snakefile).resolve() == ROOT / "Snakefile"
        else module_layers(Path.cwd(), config)
    )
except UserError as error:
    refuse(error.args)
# The papers whose tables and figures are made: what they have and report.
PAPER_FILES = {paper: str(WORKFLOW / "papers" / f"{paper}.yaml") for paper in CONFIG.artifacts.papers}
try:
    PAPERS = {paper: read_paper(Path(file)) for paper, file in PAPER_FILES.items()}
except UserError as error:
    refuse([f"artifacts.papers: {error}"])

# The sets that their tables show scores of.
TABLES = [table for paper in PAPERS.values() for table in paper.tables.values()]
SETS = sorted({"test", *(set_ for table in TABLES for set_ in sets_of(table))})

if missing := experiment.missing_data(CONFIG, "dev" in SETS):
    first = f"run that experiment first (snakemake --directory {CONFIG.data_from} data)"
    refuse([f"data_from: {CONFIG.data_from} has no {missing[0]}: {first}"])

if problems := [*experiment.missing_files(CONFIG), *experiment.surplus_shards(CONFIG)]:
    refuse(problems)

# How jobs call `nmt`: with the interpreter that runs Snakemake (an unactivated environment is not on the
# path), or with the one that a software environment brings; the package comes from this repository in both cases. The
# prefix is no part of any job, so that another interpreter makes nothing run again. By its job's log `nmt` knows where its
# progress is to lie.
PYTHON = "python" if workflow.deployment_settings.deployment_method else shlex.quote(sys.executable)
PACKAGE = f"PYTHONPATH={shlex.quote(str(ROOT))}${{{{PYTHONPATH:+:$PYTHONPATH}}}}"
shell.prefix(f'set -euo pipefail; nmt() {{{{ {PACKAGE} {internals.LOG} {PYTHON} -m nmt "$@"; }}}}; ')

# A job in a container sees the code and what the settings name, wherever it lies; other folders need a bind of the user's.
internals.bind(workflow, [ROOT, *experiment.folders_outside(CONFIG, Path())])

SENDS_JOBS = internals.sends_jobs(workflow)

# On this machine as many jobs compute on GPUs at once as it has GPUs, each on one of its own; `--resources gpu=N` says
# otherwise. Without a GPU, cores are the only limit.
SHARED_GPUS = 0 if SENDS_JOBS or internals.of(workflow, "inside a job") else gpus.share()
if SHARED_GPUS:
    internals.limit(workflow, "gpu", SHARED_GPUS)

# Every model in the catalogue at each of its seeds, by the name that stands for {model} in paths.
RUNS = runs_of(CONFIG, list(CONFIG.models))

RUNS_IN_USE = list(runs_of(CONFIG, CONFIG.use.models))

# What translates, by the name that stands for {model} in paths of translations and scores: these runs, and the systems in
# use; of them those that the results compare.
SYSTEMS = systems_of(CONFIG)
SYSTEMS_IN_USE = list(systems_in_use(CONFIG))

SOURCE, TARGET = CONFIG.languages.source, CONFIG.languages.target
TEST = CONFIG.use.test[0]
DATA = os.path.join(CONFIG.data_from, "data") if CONFIG.data_from else "data"

# Corpora that this run prepares itself, and the stages of its training text.
PREPARED = experiment.prepared_corpora(CONFIG)
FINAL_STAGE = experiment.final_stage(CONFIG)

# Somebody's models that take the place of this run's own, and what this run keeps beside its results.
MODELS = CONFIG.released.models or "models"
RESULTS = ReplicationPackage(Path("results"))

# Models that the run of `data_from` has trained with the same settings: folders by runs.
SHARED = {} if CONFIG.released.models else shared_models(CONFIG, RUNS, Path())


# Only what the experiment has, so that a mistyped target is told as one that no rule makes. {dev} is the folder "dev/" in
# paths of the development set, nothing in those of the test set. {number} is a shard's within its corpus; in lists of files
# {shard} stands for CORPUS/NUMBER.
wildcard_constraints:
    archive=options.any_of(archive.path for archive in CONFIG.archives.values()),
    budget=options.any_of([experiment.COMMON_BUDGET, *CONFIG.selection.corpus_words]),
    corpus="[a-z0-9][a-z0-9.-]*",
    language="[a-z]{2,3}",
    number="[0-9]+",
    part="train|dev",
    model=options.any_of(SYSTEMS),
    mode="all|no_unk",
    dev="(dev/)?" if "dev" in SETS else "(?:)",


def literal(settings):
    """A parameter of every job of a rule: settings as JSON, or text; its braces are no wildcards."""
    line = settings if isinstance(settings, str) else job_settings.as_json(settings)
    return lambda wildcards: line


def unrecorded(value):
    """A parameter of which a change runs nothing again: Snakemake records none whose function takes `input`."""
    return lambda wildcards, input: value


def moses_settings(*keys):
    """Those of the settings of `moses` that decide a job."""
    return CONFIG.moses.model_dump(include=set(keys))


def shown_in_report(name, category):
    """A file of the results; Snakemake's report shows tables (CSV), figures (PNG), pages and error rates."""
    shown = name.endswith((".csv", ".png", ".html", ".json"))
    return report(f"results/{name}", category=category) if shown else f"results/{name}"


def training_settings(wildcards):
    """All that decides a run, besides the data."""
    return job_settings.training_settings(CONFIG, RUNS[wildcards.model])


def as_recorded(wildcards, wanted, deciding):
    """A parameter of a finished training as Snakemake recorded it, if the wanted one means the same: it is not run again."""
    record = internals.recorded(workflow, f"models/{wildcards.model}/{MODEL[0]}")
    return recorded.as_recorded(record, wanted, deciding)
