"""The settings, what follows from them for all rule files, and how jobs call `nmt`.

In:  config.yaml of the working directory, and what it extends.
Out: CONFIG, PAPERS, SETS, plan, paths and jobs, which the other files read.
"""

import json
import math
import os
import re
import shlex
import sys
from pathlib import Path

import yaml

import pipeline.config.experiment as experiment
import pipeline.config.job_settings as job_settings
from pipeline.config.layers import find_layers, find_module_layers, load_config
from pipeline.config.folder import RUN_SETTINGS
from pipeline.config.runs import MOSES_WITH_RNNENC, get_run_settings, select_distinct_systems
from pipeline.config.snapshot import get_published_settings
from nmt.data.meta import BITEXT_FILES
from nmt.errors import UserError
from nmt.io.messages import print_error
from nmt.settings.base import read_settings
from nmt.store.model_folder import NEEDED_FILES, RECORD_FILES, RELEASED_FILES, TEXT_SETTINGS
from pipeline.results.package import MODES, ReplicationPackage
from pipeline.results.outputs import COMPARISON, TABLES_PROVENANCE, TREE, list_outputs
from pipeline.results.papers import read_paper, list_translated_sets
from pipeline.config.schema import Config
from workflow import cluster, gpus, internals, options, records
from workflow.jobs import (
    Jobs,
    count_gpus,
    format_folder_option,
    literal_text,
    no_rerun_if_changed,
    scale_memory,
    scale_minutes,
)
from workflow.paths import Paths
from workflow.plan import Plan


def exit_with_errors(problems):
    """Exit with one line per problem, since Snakemake's own traceback would bury them."""
    for problem in problems:
        print_error(str(problem))
    sys.exit(2)


# --- settings ---------------------------------------------------------------------------------------------------------


def read_config():
    """Return the settings: of a module statement, or of config.yaml and the command line.

    A job on a cluster reads these rules again. It uses the settings of the Snakemake that submitted it.
    """
    if IS_SUBMITTED_JOB:
        return read_settings(Config, RUN_SETTINGS)
    if IS_MODULE:
        return load_config(find_module_layers(Path.cwd(), config))
    files, pairs = internals.get_config_files(workflow), internals.get_config_pairs(workflow)
    return load_config(find_layers(Path.cwd(), files, pairs))


IS_SUBMITTED_JOB = internals.is_submitted_job(workflow)
# Whether another workflow imports this one.
IS_MODULE = Path(workflow.main_snakefile).resolve() != ROOT / "Snakefile"
try:
    CONFIG = read_config()
    if not IS_SUBMITTED_JOB:
        records.check_records(CONFIG)
except UserError as error:
    exit_with_errors(error.args)

internals.stop_without_deadlock()
internals.quote_python()

# The folder of papers and captions as seen from an experiment of the checkout, so that a moved checkout repeats no
# job.
WORKFLOW = ROOT / "workflow"
if Path.cwd().is_relative_to(ROOT):
    WORKFLOW = Path(os.path.relpath(WORKFLOW))

# Headings and captions of tables, figures and pages, by the names of their files.
CAPTIONS_FILE = WORKFLOW / "captions.yaml"
CAPTIONS = yaml.safe_load(CAPTIONS_FILE.read_text(encoding="utf-8"))

# The papers whose tables and figures are made, each with the numbers that it reports.
PAPER_FILES = {paper: str(WORKFLOW / "papers" / f"{paper}.yaml") for paper in CONFIG.artifacts.papers}
try:
    PAPERS = {paper: read_paper(Path(file)) for paper, file in PAPER_FILES.items()}
except UserError as error:
    exit_with_errors([f"artifacts.papers: {error}"])

# Their tables, and the sets of sentences in these tables: test, or test and dev.
PAPER_TABLES = [table for paper in PAPERS.values() for table in paper.tables.values()]
SETS = list_translated_sets(PAPERS.values())

problems = experiment.find_missing_files(CONFIG) + experiment.find_surplus_shards(CONFIG)
if problems:
    exit_with_errors(problems)

try:
    problems = list(job_settings.find_text_differences(CONFIG))
except UserError as error:
    exit_with_errors(error.args)
if problems:
    exit_with_errors(problems)

# --- what follows from the settings -----------------------------------------------------------------------------------

SOURCE, TARGET = CONFIG.languages.source, CONFIG.languages.target

# The runs and systems of the experiment.
plan = Plan(CONFIG, SETS)

# The experiment's files, and its results.
paths = Paths(CONFIG, plan)
FOLDER, DATA = paths.folder, paths.data

# If only some of the text is missing, Snakemake names the files.
test_file = paths.evaluation_file("test", SOURCE)
if CONFIG.data_from and not Path(test_file).exists():
    other_folder = Path(CONFIG.data_from)
    try:
        other_data_from = load_config(find_layers(other_folder)).data_from
    except UserError as error:
        exit_with_errors([f"data_from: {problem}" for problem in error.args])
    command = f".venv/bin/snakemake --cores 2 --directory {shlex.quote(str(other_folder.resolve()))} data"
    remedy = f"run that experiment first ({command})"
    if other_data_from:
        remedy = f"that experiment uses the text of {other_data_from}: name this folder"
    exit_with_errors([f"data_from: no {test_file}: {remedy}"])

RESULTS = ReplicationPackage(Path("results"))

# Corpora that this run prepares itself, and the last stage of its training text.
PREPARED_CORPORA = experiment.list_prepared_corpora(CONFIG)
FINAL_STAGE = experiment.get_final_stage(CONFIG)

# The ids of training and development text, with the vocabularies: inputs of a training.
BITEXT = {split: expand(f"{DATA}/binary/{split}/{{name}}", name=BITEXT_FILES) for split in ("train", "dev")}
VOCABULARIES = {
    "source_vocabulary": f"{DATA}/vocabulary/{SOURCE}.tsv",
    "target_vocabulary": f"{DATA}/vocabulary/{TARGET}.tsv",
}

# Languages, tokenization and decoding, with which the models translate raw text.
TEXT_SETTINGS_OF_MODELS = job_settings.get_text_settings(CONFIG).model_dump(mode="json")


# Only names that the experiment has, so that Snakemake says of a mistyped target that no rule makes it. {number} is a
# shard's within its corpus; in lists of files {shard} stands for CORPUS/NUMBER.
wildcard_constraints:
    archive=options.match_any(archive.path for archive in CONFIG.archives.values()),
    budget=options.match_any([experiment.COMMON_BUDGET, *CONFIG.selection.corpus_words]),
    corpus="[a-z0-9][a-z0-9.-]*",
    language="[a-z]{2,3}",
    mode="all|no_unk",
    number="[0-9]+",
    split="train|dev",
    run=options.match_any(plan.runs),
    set=options.match_any(SETS),
    system=options.match_any(plan.systems),


# --- how jobs run -----------------------------------------------------------------------------------------------------

# In a shell line, `nmt` is a function that runs the code of this checkout:
#
#     nmt() { PYTHONPATH=ROOT${PYTHONPATH:+:$PYTHONPATH} PYTHON -m nmt "$@"; }
#
# Here each of its braces is doubled for Snakemake, and once more for the f-string. PYTHON is the interpreter that runs
# Snakemake, whose environment may not be on the path, or the interpreter of the container. Snakemake does not compare the
# prefix, so a different interpreter repeats no job. NMT_LOG tells `nmt` the name of the job's log, which only `tee`
# writes; `nmt` records its progress in a file next to the log.
PYTHON = "python" if internals.uses_container(workflow) else shlex.quote(sys.executable)
PYTHONPATH = f"PYTHONPATH={shlex.quote(str(ROOT))}${{{{PYTHONPATH:+:$PYTHONPATH}}}}"
shell.prefix(f'set -euo pipefail; nmt() {{{{ {PYTHONPATH} {PYTHON} -m nmt "$@"; }}}}; ')

# A job in a container sees the code and the folders that the settings name; for others the user adds a bind.
internals.bind_folders(workflow, [ROOT, *experiment.list_folders_of_jobs(CONFIG)])

SUBMITS_JOBS = internals.submits_jobs(workflow)
if SUBMITS_JOBS:
    if IS_MODULE:  # Snakemake does not call its `onstart`, which writes the settings that submitted jobs read
        exit_with_errors(
            ["a workflow that imports these rules cannot submit their jobs: run them by themselves"]
        )
    cluster.put_wrappers_first()

# On this machine as many jobs compute on GPUs at the same time as it has GPUs, each on one of its own; the option
# `--resources gpu=N` changes that. Without a GPU, the cores are the only limit.
SHARED_GPUS = 0 if SUBMITS_JOBS or IS_SUBMITTED_JOB else gpus.share_gpus()
if SHARED_GPUS:
    internals.limit_resource(workflow, "gpu", SHARED_GPUS)

jobs = Jobs(
    CONFIG,
    plan,
    paths,
    cores=internals.count_cores(workflow),
    gpus=SHARED_GPUS,
)

# --- outputs ----------------------------------------------------------------------------------------------------------


def raw_outputs(corpus, language):
    """Return one side of a corpus before tokenization. Snakemake deletes training text once it is tokenized."""
    raw_files = paths.raw_files(corpus, language)
    if experiment.get_role(CONFIG, corpus) in ("dev", "test"):
        return raw_files
    return [temp(file) for file in raw_files]


# The captions of Snakemake's report by the names of results. A run writes them as files before its first job.
REPORT_CAPTIONS = {}


def result_file(name, report_category):
    """Return a file of the results, which Snakemake's report shows if it is a table (CSV), figure, page or error rate.

    The report has the same headings and captions as results/report.html.
    """
    file = f"results/{name}"
    if not name.endswith((".csv", ".png", ".html", ".json")):
        return file
    stem, _, extension = name.rpartition(".")
    # alignment_error_rate/RUN.json has the caption of its folder
    caption_name = stem if stem in CAPTIONS else os.path.dirname(name)
    texts = CAPTIONS.get(caption_name, {})
    REPORT_CAPTIONS[stem] = texts.get("caption", "")
    return report(
        file,
        category=report_category,
        caption=str(records.get_caption_file(stem)),
        labels={"result": texts.get("heading", stem), "form": extension.upper()},
    )
