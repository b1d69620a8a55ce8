"""Every number and picture of Bahdanau, Cho & Bengio (2015), from raw downloads; at any scale that config.yaml describes.

Settings come in layers (see config.yaml); the working directory is the experiment: `snakemake --directory experiments/demo`.
"""

import sys
from pathlib import Path

# This checkout, by its one real path: `--snakefile ../../Snakefile` or a link names it otherwise. `workflow.basedir` is
# that of the workflow which imports this one as a module, if one does.
ROOT = Path(str(workflow.current_basedir)).resolve()
if not (ROOT / "nmt").is_dir():
    raise WorkflowError(
        f"{ROOT}/Snakefile: Snakemake fetches the rules alone, and they need the project's Python; clone the repository, install it by `make setup`, and give the path of its Snakefile"
    )

# Rules and the jobs they start find the package without an installation.
sys.path.insert(0, str(ROOT))

import nmt.environment

nmt.environment.prepare()
if problem := nmt.environment.other_checkout():
    print(f"error: {problem}", file=sys.stderr)
    sys.exit(2)

try:
    import pipeline.config.layers
except ModuleNotFoundError as error:
    raise WorkflowError(f"{error.name} is not installed, and this version needs it: call `make setup` again")


include: "workflow/rules/common.smk"
include: "workflow/rules/paths.smk"
include: "workflow/rules/resources.smk"


# The image in which jobs run under `--sdm apptainer` (container/nmt.def); nothing without. Its path starts at the working
# directory, so that the same image elsewhere is no reason to make anything again.
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
include: "workflow/rules/results.smk"


rule all:
    """The tables and figures of the papers that the settings name, the pages, the replication package and its record."""
    default_target: True
    input:
        ARTIFACTS,
        REPLICATION_PACKAGE,
        expand("models/{run}/{name}", run=OWN_MODELS, name=["text.json", "README.md"]),
        "results/ro-crate-metadata.json",


rule data:
    """The prepared text: vocabularies, binary training and development text, tokenized test text, a report on it all."""
    input:
        expand(f"{DATA}/vocabulary/{{language}}.tsv", language=[SOURCE, TARGET]),
        expand(f"{DATA}/binary/{{part}}/{{name}}", part=["train", "dev"], name=BITEXT_FILES),
        test_tokens(SOURCE),
        test_tokens(TARGET),
        DATA_REPORT,


rule models:
    """The trained models in use, each in a folder that translates raw text."""
    input:
        model_files_of(RUNS_IN_USE),
        expand("models/{run}/text.json", run=OWN_MODELS),


rule releases:
    """An archive of each model in use, for others."""
    input:
        expand("releases/{model}.tar.zst", model=OWN_MODELS),


include: "workflow/rules/start.smk"


internals.use_default_partition(workflow, rules_without_gpu())


if CHECK_ONLY:

    rule preflight:
        """Always due, so that `onstart` is called where nothing else is."""
        input:
            [],


onstart:
    start()
