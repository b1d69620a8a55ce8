"""Every number and picture of Bahdanau, Cho & Bengio (2015), from raw downloads; at any scale that config.yaml describes.

Settings come in layers (see config.yaml); the working directory is the experiment: `snakemake --directory experiments/demo`.
"""

import sys
from pathlib import Path

# The checkout by its real path, since `--snakefile ../../Snakefile` or a link names it otherwise. `workflow.basedir` would
# be the folder of a workflow that imports this one as a module.
ROOT = Path(str(workflow.current_basedir)).resolve()
if not (ROOT / "nmt").is_dir():
    raise WorkflowError(
        f"{ROOT}/Snakefile: Snakemake fetches the rules alone, and they need the project's Python; clone the repository, install it by `make setup`, and give the path of its Snakefile"
    )

# Rules and the jobs that they start find the packages without an installation.
sys.path.insert(0, str(ROOT))

import nmt.environment

nmt.environment.prepare()
problem = nmt.environment.find_checkout_problem()
if problem:
    print(f"error: {problem}", file=sys.stderr)
    sys.exit(2)

try:
    import pipeline.config.layers
except ModuleNotFoundError as error:
    raise WorkflowError(f"{error.name} is not installed, and this version needs it: run `make setup` again")


include: "workflow/rules/common.smk"


# The image in which jobs run under `--sdm apptainer` (container/nmt.def); ignored otherwise. Its path is relative to the
# working directory, so that the same image elsewhere repeats no job.
container: os.path.relpath(ROOT / "container" / "nmt.sif")


include: "workflow/rules/download.smk"
include: "workflow/rules/prepare.smk"
include: "workflow/rules/select.smk"
include: "workflow/rules/binarize.smk"
include: "workflow/rules/count.smk"
include: "workflow/rules/train.smk"
include: "workflow/rules/translate.smk"
include: "workflow/rules/moses.smk"
include: "workflow/rules/rescore.smk"
include: "workflow/rules/package_files.smk"
include: "workflow/rules/package.smk"
include: "workflow/rules/tables.smk"
include: "workflow/rules/pages.smk"
include: "workflow/rules/record.smk"
include: "workflow/rules/release.smk"


rule all:
    """The tables and figures of the papers that the settings name, the pages, the replication package and its record."""
    default_target: True
    input:
        RESULT_FILES,
        REPLICATION_PACKAGE,
        expand("models/{run}/{name}", run=plan.trained_runs, name=["text.json", "README.md"]),
        "results/ro-crate-metadata.json",


rule data:
    """The prepared text: vocabularies, binary training and development text, tokenized test text, and its report."""
    input:
        BITEXT["train"],
        BITEXT["dev"],
        VOCABULARIES.values(),
        paths.evaluation_file("test", SOURCE),
        paths.evaluation_file("test", TARGET),
        DATA_REPORT,


rule models:
    """The trained models that the results show, each in a folder that translates raw text."""
    input:
        paths.model_files(plan.selected_runs),
        expand("models/{run}/text.json", run=plan.trained_runs),


rule releases:
    """An archive for others of each model that the results show."""
    input:
        expand("releases/{run}.tar.zst", run=plan.trained_runs),


include: "workflow/rules/start.smk"


if SUBMITS_JOBS:
    internals.use_default_partition(workflow, jobs.list_rules_without_gpu())


onstart:
    if not IS_SUBMITTED_JOB:
        start_run()
