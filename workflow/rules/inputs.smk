"""The settings, and every function that says which files and options a job gets. No rules here."""

import json
import math
import os
import re
import shlex
import sys
from pathlib import Path

from nmt.publish import rebuild
from nmt.config.snapshot import published
from nmt.decoding.sidecar import beside
from nmt.data.bitext import BITEXT_FILES
from nmt.io.files import sha256
from nmt.config.overlays import ConfigError, find_layers, load
from nmt.publish.replication_package import MODES, RUN_FILES, Parts
from nmt.publish.model_archive import NEEDED
from nmt.config.runs import run_settings, runs_of, seeds_of
from nmt.config.schema import Grid, Search, SweepRun, TextSettings
from nmt.monitor.time_limits import progress_of, time_limit, time_slices
from workflow.cluster import stated_hours, use_own_programs

ROOT = Path(workflow.basedir)


def refuse(problems):
    """Leave with one line a problem; Snakemake's own traceback would bury them."""
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

# How jobs call `nmt`: with the interpreter that runs Snakemake (an unactivated environment is not on the
# path), or with the one that a software environment brings; the package comes from this repository in both cases. The
# prefix is no part of any job, so that another interpreter makes nothing run again.
PYTHON = "python" if workflow.deployment_settings.deployment_method else shlex.quote(sys.executable)
PACKAGE = f"PYTHONPATH={shlex.quote(workflow.basedir)}${{{{PYTHONPATH:+:$PYTHONPATH}}}}"
shell.prefix(f'set -euo pipefail; nmt() {{{{ {PACKAGE} {PYTHON} -m nmt "$@"; }}}}; ')

# Whether this Snakemake sends jobs to a cluster: then it counts jobs instead of cores, and is not inside such a job. The
# executor itself is not known yet when rules are read.
SENDS_JOBS = workflow.resource_settings.nodes is not None and not workflow.remote_exec

# Every model in the catalogue at each of its seeds, by the name that stands for {model} in paths.
RUNS = runs_of(CONFIG, list(CONFIG.models))

SOURCE, TARGET = CONFIG.languages.source, CONFIG.languages.target
TEST = CONFIG.use.test[0]
DATA = os.path.join(CONFIG.data_from, "data") if CONFIG.data_from else "data"

# Somebody's models or translations that take the place of this run's own, and what this run keeps beside its results.
MODELS = CONFIG.released.models or "models"
KEPT = Parts(Path(CONFIG.released.results)) if CONFIG.released.results else None
RESULTS = Parts(Path("results"))
RELEASE_FILES = (*NEEDED, "text.json")

# KenLM's programs, one build for all experiments.
KENLM = str(ROOT / ".kenlm")

# The numbers that the paper reports.
PAPER = str(ROOT / "workflow" / "paper.yaml")

# Corpora that this run prepares itself; those that the selection compares with need not be in use.
IN_DOMAIN = list(CONFIG.selection.in_domain) if CONFIG.selection.enabled else []
PREPARED = (
    []
    if CONFIG.data_from
    else list(dict.fromkeys([*CONFIG.use.train, *CONFIG.use.dev, *CONFIG.use.test, *IN_DOMAIN]))
)
DOWNLOADED = [corpus for corpus in PREPARED if CONFIG.corpora[corpus].grammar is None]
GENERATED = [corpus for corpus in PREPARED if CONFIG.corpora[corpus].grammar is not None]
TOKENIZED = [corpus for corpus in PREPARED if CONFIG.corpora[corpus].tokenized]
GOLD = (
    (str(KEPT.gold) if KEPT.gold.is_file() else None)
    if KEPT
    else CONFIG.artifacts.gold_alignments
    or (f"{DATA}/raw/{TEST}/0.align.zst" if CONFIG.corpora[TEST].grammar is not None else None)
)

FIGURES = ("figure2", "figure3", "unknown_words", "learning_curves")
DATA_REPORT = ("data.csv", "data_lengths.csv", "data.md", "data.pdf", "data.png")
CLEAN_COUNTS = "data/clean/{corpus}/{shard}.counts.json"
STAGE_COUNTS = "data/counts/{corpus}/{shard}.json"
OVERLAP_COUNTS = "data/overlap/{corpus}/{shard}.json"

# The training text from which the selection and the models take: without the pairs that overlap with the test set, if
# these are dropped.
TRAINING_STAGE = "tokens" if CONFIG.overlap.drop == "none" else "kept"


wildcard_constraints:
    archive=".+",
    corpus="[a-z0-9][a-z0-9.-]*",
    language="[a-z]{2}",
    shard="[0-9]+",
    budget="([a-z0-9][a-z0-9.-]*/)?",
    part="train|dev",
    model="[a-z0-9][a-z0-9.-]*",
    mode="all|no_unk",


# --- settings of a job ------------------------------------------------------------------------------------------------


def as_json(settings):
    """Settings as one line of JSON with a fixed order: what decides whether a job runs again."""
    values = settings.model_dump() if hasattr(settings, "model_dump") else settings
    return json.dumps(values, sort_keys=True, ensure_ascii=False)


def constant(settings):
    """A parameter function for settings that are the same for every job of a rule."""
    line = as_json(settings)
    return lambda wildcards: line


def model_run(wildcards):
    """All that decides a run's weights, besides the data."""
    return as_json(run_settings(CONFIG, RUNS[wildcards.model]))


LM_VOCABULARY_KEYS = ("lm_vocabulary", "lm_vocabulary_least")
"""Of the selection; they decide nothing where language models know all words."""


def deciding_selection():
    """The selection's settings without those that decide nothing."""
    idle = LM_VOCABULARY_KEYS if CONFIG.selection.lm_vocabulary == "all" else ()
    return CONFIG.selection.model_dump(exclude=set(idle))


def data_settings(wildcards):
    """What decides the text that every model is trained on; a change of it makes the models outdated.

    Sums and mirrors are left out: they say how to get a file, not which.
    """
    if CONFIG.data_from:
        return as_json({"data_from": CONFIG.data_from})
    kept = ("seed", "languages", "cleaning", "tokenization", "selection", "vocabulary")
    values = CONFIG.model_dump(include=set(kept))
    values["selection"] = deciding_selection()
    values["train"], values["dev"] = list(CONFIG.use.train), list(CONFIG.use.dev)
    text = (*CONFIG.use.train, *CONFIG.use.dev)
    values["generated"] = [generated(c) for c in text if CONFIG.corpora[c].grammar]
    values["tokenized"] = [c for c in text if CONFIG.corpora[c].tokenized]
    # pairs that are only counted change no text
    values |= {"overlap": CONFIG.overlap.model_dump(), "test": TEST} if CONFIG.overlap.drop != "none" else {}
    return as_json(values)


def generated(corpus):
    """What decides a generated corpus."""
    return {**CONFIG.grammar.model_dump(), **CONFIG.corpora[corpus].grammar.model_dump()}


def report_settings(wildcards):
    """What the tables and figures show, the models' names, and how the unknown word was decoded."""
    return as_json(rebuild.report_settings(CONFIG))


def configuration(wildcards):
    """The settings as they are kept beside the results."""
    return as_json(published(CONFIG))


def text_settings(wildcards):
    """What a model's folder says of raw text. No part of what it is trained with, so that a change trains nothing again."""
    return as_json(
        TextSettings(languages=CONFIG.languages, tokenization=CONFIG.tokenization, decoding=CONFIG.decoding)
    )


def sweep_settings(wildcards):
    """What a sweep tries, and what else `decoding` says; what is marked in its table is no part of it."""
    tried = CONFIG.sweep.model_dump(include=set(Grid.model_fields))
    return as_json(SweepRun(**tried, **CONFIG.decoding.model_dump(include=set(Search.model_fields))))


def any_of(corpora):
    """A wildcard's constraint to some corpora."""
    return "|".join(re.escape(corpus) for corpus in corpora) or "(?!)"


def none_of(corpora):
    """A wildcard's constraint to all corpora but some."""
    return f"(?!(?:{any_of(corpora)})/)[a-z0-9][a-z0-9.-]*"


# --- options ----------------------------------------------------------------------------------------------------------


def repeated(option, files):
    """`--option FILE` for each file, quoted for the shell."""
    return " ".join(f"{option} {shlex.quote(str(file))}" for file in files)


def archive_options(wildcards):
    """Address and sums of an archive, as far as they are known."""
    known = archive_of(wildcards).model_dump(exclude={"alternatives"}, exclude_none=True)
    return " ".join(f"--{name} {shlex.quote(str(value))}" for name, value in known.items())


def archive_of(wildcards):
    """The entry of the catalogue that describes a file."""
    return next(archive for archive in CONFIG.archives.values() if archive.path == wildcards.archive)


def source_options(wildcards, input):
    """Mirrors, then other archives with the same members.

    That this asks for `input` keeps it from being a reason to fetch again what is already there.
    """
    others = [as_json(other.model_dump(exclude_none=True)) for other in archive_of(wildcards).alternatives]
    return f"{repeated('--mirror', CONFIG.mirrors)} {repeated('--alternative', others)}"


def member_options(corpus):
    """The members that hold both sides (none where the archive itself is the text), and what is known of the text."""
    entry = CONFIG.corpora[corpus]
    known = [("--member-source", entry.source.member), ("--member-target", entry.target.member)]
    known += [
        ("--md5-source", entry.source.md5),
        ("--md5-target", entry.target.md5),
        ("--pairs", entry.pairs),
    ]
    return " ".join(f"{option} {shlex.quote(str(value))}" for option, value in known if value is not None)


def sample_options(wildcards):
    """Size of the out-of-domain sample: stated, or that of the in-domain text."""
    if CONFIG.selection.sample_pairs is not None:
        return f"--pairs {CONFIG.selection.sample_pairs}"
    return repeated("--as-many-as", in_domain_tokens(SOURCE))


def text_options(stage, corpora, *languages):
    """`--shard CORPUS FILE...` for each shard of some corpora at a stage: one side or both."""
    return " ".join(
        shard_option(corpus, files)
        for corpus in corpora
        for files in zip(*(shard_files(stage, corpus, language) for language in languages))
    )


def shard_option(corpus, files):
    """A shard and its files, quoted for the shell."""
    return f"--shard {corpus} {' '.join(map(shlex.quote, files))}"


def language_model_options(wildcards, input):
    """The text of a language model, and whose words it knows."""
    text = (
        text_options("tokens", IN_DOMAIN, wildcards.language)
        if wildcards.domain == "in"
        else shard_option("out", input.text)
    )
    words = f"--words-least {CONFIG.selection.lm_vocabulary_least}" if input.words else ""
    return f"{text} {repeated('--words-of', input.words)} {words}".rstrip()


def comparison_options(wildcards, input):
    """Every model's translations (its first run's first), other systems' where given, and the reference as it came."""
    options = [
        f"--translations {model} {' '.join(map(shlex.quote, translations_of([run])))}"
        for model in CONFIG.use.models
        for run in runs([model])
    ]
    options += [f"--given moses {shlex.quote(str(input.given))}"] if input.get("given") else []
    options += [repeated("--raw-reference", [raw_reference()])] if raw_reference() else []
    return " ".join(options)


def run_options(wildcards):
    """Which model at which seed a run is."""
    run = RUNS[wildcards.model]
    return f"--model {run.model} --seed {run.seed}"


def shown_seeds(models):
    """What a figure's caption says of models with several runs, of which the figure shows the first."""
    several = [model for model in models if len(seeds_of(CONFIG, model)) > 1]
    return ", ".join(
        f"seed {seeds_of(CONFIG, model)[0]} of {CONFIG.models[model].label}" for model in several
    )


def table3_options(wildcards, input):
    """Each model of Table 3 with its translations."""
    files = zip(CONFIG.artifacts.table3_models, input.translations)
    return " ".join(f"--translations {model} {shlex.quote(str(file))}" for model, file in files)


def sweep_options(files):
    """Each model of the sweep with its scores."""
    pairs = zip(CONFIG.sweep.models, files, strict=True)
    return " ".join(f"--sweep {model} {shlex.quote(str(file))}" for model, file in pairs)


def continue_option(wildcards, input):
    """The final state that a model goes on from, if it does."""
    return f"--continue-from {shlex.quote(str(input.base))}" if input.get("base") else ""


def model_folder(wildcards):
    """The folder of a trained model."""
    return f"{MODELS}/{wildcards.model}"


def align_options(wildcards):
    """How the attention on given translations is computed: on what decoding uses."""
    names = ("batch_size", "threads", "device")
    return " ".join(f"--{name.replace('_', '-')} {getattr(CONFIG.decoding, name)}" for name in names)


def kept_runs(wildcards):
    """Each run by its name with the files of it that are kept."""
    files = {
        run: [*translations_of([run]), *(file for name in RUN_FILES for file in run_files([run], name))]
        for run in runs(CONFIG.use.models)
    }
    return " ".join(f"--run {run} {' '.join(map(shlex.quote, names))}" for run, names in files.items())


def kept_options(wildcards, input):
    """The reference as it came, other systems' translations, and alignments with what is held against them."""
    options = [repeated("--raw-reference", [input.raw_reference] if input.raw_reference else [])]
    options += [f"--given moses {shlex.quote(str(input.given))}"] if input.given else []
    options += [repeated("--gold", [input.gold])] if input.gold else []
    pairs = zip(measured_runs(), input.alignments, strict=True)
    options += [f"--alignments {run} {shlex.quote(file)}" for run, file in pairs]
    return " ".join(options)


def card_options(wildcards):
    """What a model's card says of its text."""
    parts = [("--train", CONFIG.use.train), ("--dev", CONFIG.use.dev), ("--test", CONFIG.use.test)]
    corpora = " ".join(repeated(option, names) for option, names in parts)
    return f"--languages {SOURCE} {TARGET} {corpora}"


def labelled(models, files):
    """`--translations LABEL FILE` for each model, quoted for the shell."""
    pairs = [(CONFIG.models[model].label, file) for model, file in zip(models, files, strict=True)]
    return " ".join(f"--translations {shlex.quote(label)} {shlex.quote(str(file))}" for label, file in pairs)


def folder_of(files):
    """The folder that files lie in."""
    return os.path.dirname(files[0])


# --- files ------------------------------------------------------------------------------------------------------------


def shards(corpus):
    """Names of a corpus' shards."""
    return [str(shard) for shard in range(CONFIG.corpora[corpus].shards)]


def training_shards(budget=None):
    """Every training shard as (corpus, shard), corpora in the order of the settings; or those of one word budget."""
    corpora = [corpus for corpus in CONFIG.use.train if budget in (None, budget_of(corpus))]
    return [(corpus, shard) for corpus in corpora for shard in shards(corpus)]


def budget_of(corpus):
    """The word budget that a corpus is selected from, as the folder of its threshold: its own, or the common one."""
    return f"{corpus}/" if corpus in CONFIG.selection.corpus_words else ""


def budget_option(wildcards):
    """Target words that a budget allows."""
    own = CONFIG.selection.corpus_words
    words = own[wildcards.budget.rstrip("/")] if wildcards.budget else CONFIG.selection.target_words
    return f"--target-words {words}"


def threshold_file(corpus):
    """The threshold that a corpus is selected by."""
    return f"data/selection/{budget_of(corpus)}threshold.json"


def shard_files(stage, corpus, language):
    """One side of a corpus at a stage, shard by shard."""
    return [f"{DATA}/{stage}/{corpus}/{shard}.{language}.zst" for shard in shards(corpus)]


def archive_file(corpus, side):
    """The archive that holds one side of a corpus."""
    return f"data/archives/{CONFIG.archives[getattr(CONFIG.corpora[corpus], side).archive].path}"


def in_domain_tokens(language):
    """One side of the selection's in-domain text."""
    return [file for corpus in IN_DOMAIN for file in shard_files("tokens", corpus, language)]


def training_tokens(language):
    """One side of the training text before selection."""
    return [file for corpus in CONFIG.use.train for file in shard_files(TRAINING_STAGE, corpus, language)]


def part_text(part):
    """Stage and corpora of the training text (after selection, if there is one) or of the development text."""
    if part == "dev":
        return "tokens", CONFIG.use.dev
    return "selected" if CONFIG.selection.enabled else TRAINING_STAGE, CONFIG.use.train


def part_files(part, language):
    """One side of the training or development text."""
    stage, corpora = part_text(part)
    return [file for corpus in corpora for file in shard_files(stage, corpus, language)]


def language_model_text(wildcards):
    """What an in-domain or out-of-domain language model is trained on."""
    if wildcards.domain == "in":
        return in_domain_tokens(wildcards.language)
    return [f"data/selection/lm/out.{wildcards.language}.zst"]


def language_model_words(wildcards):
    """The text whose words are all that the language models know, if they do not know all words of their own text."""
    limited = CONFIG.selection.lm_vocabulary == "in_domain"
    return in_domain_tokens(wildcards.language) if limited else []


def score_files(corpus, shard):
    """Scores and histogram of a training shard."""
    return [f"data/selection/{corpus}/{shard}.{name}" for name in ("scores.npy", "histogram.json")]


def part_of(corpus):
    """What a corpus is for; text that only the selection compares with is in-domain text."""
    parts = {"train": CONFIG.use.train, "dev": CONFIG.use.dev, "test": CONFIG.use.test}
    return next((part for part, corpora in parts.items() if corpus in corpora), "in-domain")


def counted_stages(corpus):
    """The stages of tokenized text that are counted, in order."""
    if corpus not in CONFIG.use.train:
        return ["tokens"]
    return [*dict.fromkeys(["tokens", TRAINING_STAGE]), *(["selected"] if CONFIG.selection.enabled else [])]


def counted_files(wildcards):
    """Both sides of a shard at each stage that is counted."""
    return [
        f"data/{stage}/{wildcards.corpus}/{wildcards.shard}.{language}.zst"
        for stage in counted_stages(wildcards.corpus)
        for language in (SOURCE, TARGET)
    ]


def stage_options(wildcards, input):
    """`--stage NAME SOURCE TARGET` for each stage that is counted."""
    files = [iter(map(shlex.quote, input.text))] * 2
    stages = zip(counted_stages(wildcards.corpus), zip(*files))
    return " ".join(f"--stage {stage} {source} {target}" for stage, (source, target) in stages)


def shard_counts(kind):
    """Counts of every shard of every prepared corpus as (corpus, file)."""
    return [
        (corpus, kind.format(corpus=corpus, shard=shard)) for corpus in PREPARED for shard in shards(corpus)
    ]


def overlap_files(wildcards):
    """Both sides of a training shard, and those of every held-out text."""
    sides = {"source": SOURCE, "target": TARGET}
    files = {
        side: f"data/tokens/{wildcards.corpus}/{wildcards.shard}.{code}.zst" for side, code in sides.items()
    }
    held_out = [
        file
        for corpus in held_out_corpora()
        for shard in zip(*(shard_files("tokens", corpus, code) for code in sides.values()))
        for file in shard
    ]
    return {**files, "held_out": held_out}


def held_out_corpora():
    """The development and test text."""
    return list(dict.fromkeys([*CONFIG.use.dev, *CONFIG.use.test]))


def held_out_options(wildcards, input):
    """`--held-out CORPUS SOURCE TARGET` for each shard of the development and test text."""
    names = [corpus for corpus in held_out_corpora() for _ in shards(corpus)]
    files = [iter(map(shlex.quote, input.held_out))] * 2
    return " ".join(
        f"--held-out {name} {source} {target}" for name, (source, target) in zip(names, zip(*files))
    )


def overlap_counts():
    """Overlap counts of every training shard as (corpus, file)."""
    return [
        (corpus, OVERLAP_COUNTS.format(corpus=corpus, shard=shard)) for corpus, shard in training_shards()
    ]


def counted_corpora(wildcards):
    """`--corpus PART CORPUS RAW` for each prepared corpus, and its shards' counts."""
    options = [f"--corpus {part_of(corpus)} {corpus} data/raw/{corpus}/counts.json" for corpus in PREPARED]
    options += [f"--clean {corpus} {file}" for corpus, file in shard_counts(CLEAN_COUNTS)]
    options += [f"--count {corpus} {file}" for corpus, file in shard_counts(STAGE_COUNTS)]
    options += [f"--overlap {corpus} {file}" for corpus, file in overlap_counts()]
    return " ".join(options)


def limit_options(wildcards):
    """The length limits of the models in use."""
    return repeated("--limit", sorted({CONFIG.models[model].max_words for model in CONFIG.use.models}))


def bitext(part):
    """The files of a binary text."""
    return [f"{DATA}/binary/{part}/{name}" for name in BITEXT_FILES]


def vocabularies():
    """Both vocabularies, source first."""
    return [f"{DATA}/vocabulary/{language}.tsv" for language in (SOURCE, TARGET)]


def test_tokens(language):
    """One side of the tokenized test text."""
    return str(KEPT.test(language)) if KEPT else f"{DATA}/tokens/{TEST}/0.{language}.zst"


def raw_reference():
    """The reference as it came; none where it came as tokens."""
    if CONFIG.corpora[TEST].tokenized:
        return []
    return str(KEPT.raw_reference(TARGET)) if KEPT else f"{DATA}/raw/{TEST}/0.{TARGET}.zst"


def base_state(wildcards):
    """The final state that a run goes on from; nothing for one that starts anew."""
    base = RUNS[wildcards.model].base
    return ancient(f"models/{base}/final_state.safetensors") if base else []


def model_files(wildcards):
    """What a verb needs of a trained model."""
    names = ("model.safetensors", "settings.json", "source.tsv", "target.tsv")
    return [f"{MODELS}/{wildcards.model}/{name}" for name in names]


def swept_model(wildcards):
    """What a sweep needs of a trained model; somebody's results hold none."""
    if KEPT:
        refuse(
            [
                f"released.results: {CONFIG.released.results} holds no models, which a sweep needs; give `released.models`"
            ]
        )
    return model_files(wildcards)


def translated(run, mode):
    """A run's translations."""
    return str(KEPT.translations(run, mode)) if KEPT else f"translations/{run}.{mode}.jsonl"


def aligned(run):
    """A run's attention while it is made to write the reference."""
    return str(KEPT.alignments(run)) if KEPT else f"alignments/{run}.jsonl"


def translations_of(runs):
    """The translations of some runs, of both modes each."""
    return [translated(run, mode) for run in runs for mode in MODES]


def making_of(runs):
    """What made the translations of some runs, of both modes each."""
    return [str(beside(Path(file))) for file in translations_of(runs)]


def run_files(runs, name):
    """One of the files that training leaves, of some runs."""
    return [str(KEPT.of_run(run, name)) if KEPT else f"{MODELS}/{run}/{name}" for run in runs]


def runs(models):
    """Names of the runs of some models, in the order of the models, then of the seeds."""
    return list(runs_of(CONFIG, models))


def scores(runs):
    """The scores of some runs; a model's name is that of its first run."""
    return [f"scores/{run}.json" for run in runs]


def translations(models):
    """The translations of the whole test text by each model's first run."""
    return [translated(model, "all") for model in models]


def summaries(runs):
    """The training summaries of some runs."""
    return run_files(runs, "summary.json")


def histories(runs):
    """The training histories of some runs."""
    return run_files(runs, "history.jsonl")


def settings_files(runs):
    """The settings that some runs were trained with."""
    return run_files(runs, "settings.json")


def compared_models():
    """Baselines of the table of ablations and the models compared with them, each once."""
    pairs = (CONFIG.artifacts.ablations or {}).items()
    return list(dict.fromkeys(model for baseline, others in pairs for model in (baseline, *others)))


def aligned_runs():
    """Runs of the models in use that align."""
    return runs([model for model in CONFIG.use.models if CONFIG.models[model].aligns])


def measured_runs():
    """Runs of the models in use that are held against known alignments."""
    return aligned_runs() if GOLD else []


def artifacts():
    """What the run is for."""
    names = [
        "table1",
        "significance",
        "table2",
        "table3",
        *(["ablations"] if CONFIG.artifacts.ablations else []),
    ]
    tables = [f"results/{table}.{kind}" for table in names for kind in ("csv", "md", "tex")]
    figures = [f"results/{figure}.{kind}" for figure in FIGURES for kind in ("pdf", "png")]
    rates = [f"results/alignment_error_rate/{run}.json" for run in measured_runs()]
    pages = ["results/report.html", "results/explorer.html"]
    return [*tables, *figures, *rates, *data_report(), *pages]


def sweep_results():
    """Table and figure of the sweep, which a plain run does not make."""
    return [f"results/decoding_sweep.{kind}" for kind in ("csv", "md", "tex", "pdf", "png", "sha256")]


def sweep_made():
    """What there is of it; no inputs, or a plain run would make it again whenever a model has changed."""
    return [file for file in sweep_results() if Path(file).is_file()]


def data_report():
    """The report on the text, where this run is what prepares it."""
    if KEPT or CONFIG.released.models:
        return []
    return [f"results/{name}" for name in DATA_REPORT]


def packages(models):
    """What completes the folders of some models, so that they translate raw text."""
    return [f"models/{run}/text.json" for run in runs(models)]


def shown_artifacts():
    """The artifacts that the page of the run shows, in its order."""
    return [file for kind in ("md", "png", "json") for file in artifacts() if file.endswith(f".{kind}")]


def shown_sweep():
    """What the page shows of a sweep that was made, with sums: another one's makes the page anew.

    No inputs, or making the page would make the sweep again whenever a model has changed.
    """
    return [(file, sha256(file)) for file in sweep_made() if file.endswith((".md", ".png"))]


def shown_settings():
    """The settings that the page shows: those that decide results, of what is in use."""
    values = CONFIG.model_dump(mode="json", exclude={"mirrors", "archives", "resources"})
    in_use = {
        "corpora": {*CONFIG.use.train, *CONFIG.use.dev, *CONFIG.use.test, *IN_DOMAIN},
        "models": {*CONFIG.use.models},
    }
    for catalogue, names in in_use.items():
        values[catalogue] = {name: entry for name, entry in values[catalogue].items() if name in names}
    return values


def experiment():
    """The run by the name of its folder."""
    return "the paper" if Path.cwd() == ROOT else Path.cwd().name


def kept_translations():
    """The translations that are kept beside the results."""
    return [str(RESULTS.translations(run, mode)) for run in runs(CONFIG.use.models) for mode in MODES]


def kept_making():
    """What made them, beside them."""
    return [str(RESULTS.making(run, mode)) for run in runs(CONFIG.use.models) for mode in MODES]


def kept_run_files():
    """The runs' files that are kept beside the results."""
    return [str(RESULTS.of_run(run, name)) for run in runs(CONFIG.use.models) for name in RUN_FILES]


def parts_kept():
    """All that is kept beside the results, so that they can be made again."""
    others = [*kept_text(), RESULTS.configuration, RESULTS.paper]
    return [*kept_translations(), *kept_making(), *kept_alignments(), *kept_run_files(), *map(str, others)]


def kept_text():
    """Test text and other systems' translations that are kept beside the results."""
    raw = [RESULTS.raw_reference(TARGET)] if raw_reference() else []
    given = [RESULTS.given("moses")] if CONFIG.artifacts.moses_translations else []
    gold = [RESULTS.gold] if GOLD else []
    return [*(RESULTS.test(language) for language in (SOURCE, TARGET)), *raw, *given, *gold]


def kept_alignments():
    """The attention that is held against known alignments."""
    return [str(RESULTS.alignments(run)) for run in measured_runs()]


def publication():
    """What makes the results worth publishing, and what completes the folders of the models that this run trained."""
    if KEPT or CONFIG.released.models:
        return [*parts_kept(), "results/ro-crate-metadata.json"]
    cards = [f"models/{run}/README.md" for run in runs(CONFIG.use.models)]
    return [*parts_kept(), "results/ro-crate-metadata.json", *packages(CONFIG.use.models), *cards]


def model_folders():
    """What is made last in the folders of the models in use; those of others are complete."""
    if CONFIG.released.models:
        return run_files(runs(CONFIG.use.models), "model.safetensors")
    return packages(CONFIG.use.models)


def absent():
    """What `released` promises and does not hold, a line each."""
    key, again = (
        ("results", "expected what `nmt keep` writes")
        if KEPT
        else ("models", "expected what `nmt unpack` writes")
    )
    used = runs(CONFIG.use.models)
    files = [file for name in RUN_FILES for file in run_files(used, name)]
    if KEPT:
        text = [test_tokens(SOURCE), test_tokens(TARGET), *([raw_reference()] if raw_reference() else [])]
        files += [*translations_of(used), *making_of(used), *text, *map(aligned, measured_runs())]
    else:
        names = ("model.safetensors", "source.tsv", "target.tsv")
        files += [file for name in names for file in run_files(used, name)]
    return [f"released.{key}: {file}: no such file; {again}" for file in files if not Path(file).is_file()]


if CONFIG.released.models or KEPT:
    missing_parts = absent()
    if missing_parts:
        refuse(missing_parts)


# --- resources --------------------------------------------------------------------------------------------------------

# MB of a data job that holds more than a few lines at a time.
DATA_MEMORY = 1000 * CONFIG.resources.data_memory_gb


def memory(megabytes, per_input=0):
    """Memory in MB: some, and so many times the input's size; as much again with every attempt."""
    return lambda wildcards, input, attempt: attempt * round(
        megabytes + (per_input * input.size_mb if per_input else 0)
    )


# Minutes beyond which an attempt that is repeated asks for no more time: a partition may not grant it, and the job would
# wait for ever. What goes on where its limit stopped it (training, decoding, the sweep) asks for the same at every attempt.
LONGEST_REPETITION = 24 * 60


def minutes(some, per_gigabyte=0):
    """A time limit: some minutes, some for every GB of (compressed) input; as much again with every attempt, to a day."""
    return lambda wildcards, input, attempt: repeated_minutes(
        round(some + (per_gigabyte * input.size_mb / 1000 if per_gigabyte else 0)), attempt
    )


def repeated_minutes(first, attempt):
    """The time limit of an attempt, by that of the first one."""
    return max(first, min(attempt * first, LONGEST_REPETITION))


def training_minutes(wildcards):
    """Time limit of a training job: what the updates that are left take at the rate of this run or of the settings."""
    updates = training_of(wildcards).updates
    done, rate = progress_of(Path(f"state/{wildcards.model}/history.jsonl"))
    if rate is None and (base := RUNS[wildcards.model].base):
        done, rate = progress_of(Path(f"models/{base}/history.jsonl"))
        done = done or CONFIG.models[RUNS[base].model].training.updates
    rate = rate or updates_per_hour(wildcards.model)
    return time_limit(updates - done, rate, CONFIG.resources.train_hours)


def updates_per_hour(run):
    """The rate that the settings expect of a run."""
    return getattr(CONFIG.resources.updates_per_hour, CONFIG.models[RUNS[run].model].family)


def training_retries():
    """How often a training job is sent again: its time slices, by twice the estimate, and those lost on the way.

    Nothing is sent again on this machine, where whoever calls sees the error, nor from inside a cluster's job: Snakemake
    would count the rule's attempts there once more.
    """
    if not SENDS_JOBS:
        return 0
    overwritten = stated_hours(workflow.resource_settings.overwrite_resources, "train")
    longest = overwritten or CONFIG.resources.train_hours
    slices = [
        time_slices(CONFIG.models[run.model].training.updates, updates_per_hour(name), longest)
        for name, run in RUNS.items()
    ]
    return max(slices) + CONFIG.resources.train_attempts


def gpus(device):
    """One GPU a job, unless the settings say that it computes on the processor."""
    return 0 if device == "cpu" else 1


MOST_URGENT = 3


def urgency(run):
    """The longest chain first, so that all end together: a model that another goes on from, that other, the rest."""
    bases = [other.base for other in runs_of(CONFIG, CONFIG.use.models).values()]
    return MOST_URGENT if run in bases else 2 if RUNS[run].base else 1


if SENDS_JOBS:
    use_own_programs({run: 10 * (MOST_URGENT - urgency(run)) for run in RUNS})


def training_of(wildcards):
    """A run's training settings."""
    return CONFIG.models[RUNS[wildcards.model].model].training


def preflight():
    """Say at once what long work would miss hours later, and what it will take."""
    from nmt.monitor.preflight import forecast, missing

    work = waiting_work()
    for line in forecast(CONFIG, work, Path.cwd()):
        print(line, file=sys.stderr)
    problems = missing(CONFIG, work, Path.cwd())
    if problems:
        refuse(problems)


def waiting_work():
    """What this Snakemake is about to do, as the preflight wants to know it."""
    from nmt.monitor.preflight import Work

    jobs = list(workflow.dag.needrun_jobs())
    paths = {job.wildcards.archive for job in jobs if job.rule.name == "download"}
    return Work(
        rules=frozenset(job.rule.name for job in jobs),
        runs=tuple(job.wildcards.model for job in jobs if job.rule.name == "train"),
        archives=tuple(name for name, archive in CONFIG.archives.items() if archive.path in paths),
        cluster=None if workflow.local_exec else asked_of_cluster(jobs),
    )


def asked_of_cluster(jobs):
    """What the jobs that are sent to a cluster ask it for."""
    from nmt.monitor.partition_check import Cluster, greediest

    status = getattr(workflow.executor_settings, "status_command", None)
    return Cluster(greediest(asked_by(job) for job in jobs if not job.is_local), status)


def asked_by(job):
    """What one job asks for; its time and memory are not known as long as its input is not there."""
    from nmt.monitor.partition_check import Asked

    stated = job.resources
    minutes, megabytes = (stated.get(name) for name in ("runtime", "mem_mb"))
    return Asked(
        job.rule.name,
        str(stated.get("slurm_partition") or ""),
        minutes if isinstance(minutes, int) else None,
        megabytes if isinstance(megabytes, int) else None,
        bool(stated.get("gpu")),
        str(stated.get("gpu_model") or ""),
        bool(stated.get("qos")),
    )
