"""The settings, what follows from them for all rule files, and how jobs call `nmt`."""

import math
import os
import re
import shlex
import sys
from pathlib import Path

import pipeline.config.experiment as experiment
import pipeline.config.job_settings as job_settings
from pipeline.config.layers import find_layers, load_config, find_module_layers
from pipeline.config.folder import RUN_SETTINGS, ExperimentFolder
from pipeline.config.runs import (
    PHRASE_BASED,
    WITH_PHRASE_MODEL,
    select_distinct_systems,
    select_other_systems,
    run_settings,
    collect_runs,
    get_seeds,
    select_systems,
    collect_systems,
)
from pipeline.config.snapshot import get_page_settings, get_published_settings
from nmt.data.meta import BITEXT_FILES
from nmt.evaluation.translations import provenance_path
from nmt.errors import UserError
from nmt.settings.base import read_settings
from nmt.store.model_folder import NEEDED_FILES, RECORD_FILES, RELEASED_FILES, TEXT_SETTINGS
from pipeline.results.package import MODES, ReplicationPackage
from pipeline.results.outputs import COMPARISON, TABLES_MADE, TREE, list_outputs
from pipeline.results.papers import read_paper, list_translated_sets
from pipeline.config.schema import Config
from workflow import internals, gpus, options
from workflow.settings_files import SettingsFiles

# Where papers and captions lie, as seen from an experiment of the checkout: moving both is no reason to make anything again.
WORKFLOW = ROOT / "workflow"
if Path.cwd().is_relative_to(ROOT):
    WORKFLOW = Path(os.path.relpath(WORKFLOW))


def refuse(problems):
    """Leave with one line per problem; Snakemake's own traceback would bury them."""
    for problem in problems:
        print(f"error: {problem}", file=sys.stderr)
    sys.exit(2)


# A job on a cluster reads these rules anew. It takes the settings of the Snakemake that submitted it.
SUBMITTED = internals.is_submitted_job(workflow)
try:
    if SUBMITTED:
        CONFIG = read_settings(Config, RUN_SETTINGS)
    elif Path(workflow.main_snakefile).resolve() == ROOT / "Snakefile":
        CONFIG = load_config(
            find_layers(
                Path.cwd(),
                internals.of(workflow, "config files"),
                internals.of(workflow, "config"),
            )
        )
    else:
        CONFIG = load_config(find_module_layers(Path.cwd(), config))
except UserError as error:
    refuse(error.args)
# The papers whose tables and figures are made: what they have and report.
PAPER_FILES = {paper: str(WORKFLOW / "papers" / f"{paper}.yaml") for paper in CONFIG.artifacts.papers}
try:
    PAPERS = {paper: read_paper(Path(file)) for paper, file in PAPER_FILES.items()}
except UserError as error:
    refuse([f"artifacts.papers: {error}"])

# Their tables, and the sets that these show scores of.
TABLES = [table for paper in PAPERS.values() for table in paper.tables.values()]
SETS = list_translated_sets(PAPERS.values())

if missing := experiment.find_missing_data(CONFIG, "dev" in SETS):
    first = f"run that experiment first (snakemake --directory {CONFIG.data_from} data)"
    refuse([f"data_from: {CONFIG.data_from} has no {missing[0]}: {first}"])

if problems := [*experiment.find_missing_files(CONFIG), *experiment.find_surplus_shards(CONFIG)]:
    refuse(problems)

# How jobs call `nmt`: with the interpreter that runs Snakemake (an unactivated environment is not on the
# path), or with the one that a container brings; the package comes from this repository in both cases. The
# prefix is no part of any job, so that another interpreter makes nothing run again. By its job's log `nmt` knows where its
# progress is to lie.
PYTHON = "python" if internals.uses_container(workflow) else shlex.quote(sys.executable)
PACKAGE = f"PYTHONPATH={shlex.quote(str(ROOT))}${{{{PYTHONPATH:+:$PYTHONPATH}}}}"
shell.prefix(f'set -euo pipefail; nmt() {{{{ {PACKAGE} {internals.LOG} {PYTHON} -m nmt "$@"; }}}}; ')

# A job in a container sees the code and what the settings name, wherever it lies; other folders need a bind of the user's.
internals.bind(workflow, [ROOT, *experiment.find_outside_folders(CONFIG, Path())])

SUBMITS_JOBS = internals.submits_jobs(workflow)

# On this machine as many jobs compute on GPUs at once as it has GPUs, each on one of its own; `--resources gpu=N` says
# otherwise. Without a GPU, cores are the only limit.
SHARED_GPUS = 0 if SUBMITS_JOBS or SUBMITTED else gpus.share()
if SHARED_GPUS:
    internals.limit(workflow, "gpu", SHARED_GPUS)

# Every model in the catalogue at each of its seeds, by the name that stands for {model} in paths.
RUNS = collect_runs(CONFIG, list(CONFIG.models))

RUNS_IN_USE = list(collect_runs(CONFIG, CONFIG.use.models))

# What translates, by the name that stands for {model} in paths of translations and scores: these runs, and the systems in
# use; of them those that the results compare.
SYSTEMS = collect_systems(CONFIG)
SYSTEMS_IN_USE = list(select_systems(CONFIG))

SOURCE, TARGET = CONFIG.languages.source, CONFIG.languages.target
TEST = CONFIG.use.test[0]
FOLDER = ExperimentFolder(CONFIG)
DATA = str(FOLDER.data)

# Corpora that this run prepares itself, and the stages of its training text.
PREPARED = experiment.list_prepared_corpora(CONFIG)
FINAL_STAGE = experiment.get_final_stage(CONFIG)

# Somebody's models that take the place of this run's own, and what this run keeps beside its results.
MODELS = CONFIG.pretrained.models or "models"
RESULTS = ReplicationPackage(Path("results"))

# What decides each kind of job, as small files that rules have as inputs.
SETTINGS = SettingsFiles()
SETTINGS.add("run", CONFIG)


# Only what the experiment has, so that a mistyped target is told as one that no rule makes. {number} is a shard's within
# its corpus; in lists of files {shard} stands for CORPUS/NUMBER.
wildcard_constraints:
    archive=options.any_of(archive.path for archive in CONFIG.archives.values()),
    budget=options.any_of([experiment.COMMON_BUDGET, *CONFIG.selection.corpus_words]),
    corpus="[a-z0-9][a-z0-9.-]*",
    language="[a-z]{2,3}",
    number="[0-9]+",
    part="train|dev",
    model=options.any_of(SYSTEMS),
    mode="all|no_unk",
    set=options.any_of(SETS),


def moses_settings(name, *keys):
    """Return the file of those settings of `moses` that decide a job."""
    return SETTINGS.add(f"moses/{name}", CONFIG.moses.model_dump(include=set(keys)))


def shown_in_report(name, category):
    """A file of the results; Snakemake's report shows tables (CSV), figures (PNG), pages and error rates."""
    shown = name.endswith((".csv", ".png", ".html", ".json"))
    return report(f"results/{name}", category=category) if shown else f"results/{name}"
