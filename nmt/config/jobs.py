"""Which files each stage of an experiment makes: what the workflow declares, known from the settings alone.

A test holds this against the workflow's own rules.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from nmt.config.runs import Run, runs_of
from nmt.config.schema import Config, Corpus

MODEL_FILES = (
    "model.safetensors",
    "final_state.safetensors",
    "summary.json",
    "history.jsonl",
    "settings.json",
    "source.tsv",
    "target.tsv",
)
BITEXT_FILES = ("source.ids.npy", "source.offsets.npy", "target.ids.npy", "target.offsets.npy", "meta.json")
KENLM = Path(__file__).resolve().parents[2] / ".kenlm"
"""KenLM's programs, one build for all experiments of a checkout."""
MODES = ("all", "no_unk")
FIGURES = ("figure2", "figure3", "unknown_words", "learning_curves")


@dataclass(frozen=True)
class Job:
    """One job of a stage.

    name: what it works on; rule: the workflow's; files: what it makes; log: what it says while it works. Paths start
    at the experiment's folder.
    """

    name: str
    rule: str
    files: tuple[str, ...]
    log: str


@dataclass(frozen=True)
class Stage:
    """Jobs of one kind; `feeds` names the stages that read what they make."""

    name: str
    jobs: tuple[Job, ...]
    feeds: tuple[str, ...] = ()


def data_stages(config: Config) -> list[Stage]:
    """From archives to binary text, in the order in which data flows; stages without a job are left out."""
    if config.data_from:
        return []
    trained = ("select", "vocabulary", "binarize")
    stages = [
        Stage("download", tuple(_downloads(config)), ("extract",)),
        Stage("extract", tuple(_extractions(config)), ("clean",)),
        Stage("generate", tuple(_generated(config)), ("clean",)),
        Stage("clean", tuple(_cleaned(config)), ("tokenize",)),
        Stage("tokenize", tuple(_tokenized(config)), trained),
        Stage("overlap", tuple(_overlapping(config)), () if config.overlap.drop == "none" else trained),
        Stage("select", tuple(_selected(config)), ("vocabulary", "binarize")),
        Stage("vocabulary", tuple(_vocabularies(config))),
        Stage("binarize", tuple(_binarized())),
        Stage("count", tuple(_counted(config))),
    ]
    return [stage for stage in stages if stage.jobs]


def prepared_corpora(config: Config) -> list[str]:
    """The corpora in use, and those that the selection compares with, each once."""
    in_domain = config.selection.in_domain if config.selection.enabled else []
    return list(dict.fromkeys([*config.use.train, *config.use.dev, *config.use.test, *in_domain]))


def archives_in_use(config: Config) -> list[str]:
    """Catalogue names of the archives that hold the corpora in use, each once."""
    if config.data_from:
        return []
    corpora = [config.corpora[corpus] for corpus in prepared_corpora(config)]
    sides = [side for corpus in corpora for side in (corpus.source, corpus.target) if side]
    return list(dict.fromkeys(side.archive for side in sides))


def runs_in_use(config: Config) -> dict[str, Run]:
    """The runs that the results are made from, in the order of the tables; those that others go on from included."""
    art = config.artifacts
    shown = [*config.use.models, *(art.ablations or {})]
    shown += [model for others in (art.ablations or {}).values() for model in others]
    shown += [*art.figure2_models, art.figure3_model, *art.table3_models]
    bases = [base for model in shown if (base := config.models[model].continue_from)]
    return runs_of(config, list(dict.fromkeys([*shown, *bases])))


def knows_alignments(config: Config) -> bool:
    """Whether the test text's word alignments are known: the grammar's are, others are named."""
    generated = config.corpora[config.use.test[0]].grammar is not None
    return generated or config.artifacts.gold_alignments is not None


def training(run: str) -> Job:
    """Training of a run."""
    return Job(run, "train", tuple(f"models/{run}/{name}" for name in MODEL_FILES), f"logs/train/{run}.log")


def packaging(run: str) -> Job:
    """What a run's folder says of raw text, so that it can translate such."""
    return Job(run, "package", (f"models/{run}/text.json",), f"logs/package/{run}.log")


def translation(run: str, mode: str) -> Job:
    """Translation of the test text by a run: `all` of it, or `no_unk`."""
    name = f"{run}.{mode}"
    files = (f"translations/{name}.jsonl", f"translations/{name}.made.json")
    return Job(name, "translate", files, f"logs/translate/{name}.log")


def alignment(run: str) -> Job:
    """A run's attention on the reference."""
    return Job(run, "align", (f"alignments/{run}.jsonl",), f"logs/align/{run}.log")


def scoring(run: str) -> Job:
    """BLEU of a run."""
    return Job(run, "score", (f"scores/{run}.json",), f"logs/score/{run}.log")


def report(config: Config) -> Stage:
    """Tables and figures."""
    tables = [
        "table1",
        "significance",
        "table2",
        "table3",
        *(["ablations"] if config.artifacts.ablations else []),
    ]
    jobs = [_result(name, ("csv", "md", "tex")) for name in tables]
    jobs += [_result(name, ("pdf", "png")) for name in FIGURES]
    jobs += [_result(name, ("html",)) for name in ("report", "explorer")]
    jobs += [_result("comparison", ("json",), "compare"), _data_report()]
    jobs += [_result("tables", ("tex",), "tables_document")]
    if knows_alignments(config):
        jobs += [_error_rate(run) for run in aligned_runs(config)]
    return Stage("report", tuple(jobs))


def sweep(config: Config) -> Stage:
    """The sweep over decoding settings, which is no part of a plain run."""
    jobs = [
        Job(model, "sweep_model", (f"sweep/{model}.json",), f"logs/sweep/{model}.log")
        for model in config.sweep.models
    ]
    return Stage("sweep", (*jobs, _result("decoding_sweep", ("csv", "md", "tex", "pdf", "png", "sha256"))))


def aligned_runs(config: Config) -> list[str]:
    """Runs of the models in use that align."""
    aligned = [model for model in config.use.models if config.models[model].aligns]
    return list(runs_of(config, aligned))


def packaged_runs(config: Config) -> list[str]:
    """Runs of the models in use: their folders are completed for raw text."""
    return list(runs_of(config, config.use.models))


def _result(name: str, kinds: Sequence[str], rule: str | None = None) -> Job:
    rule = rule or name
    return Job(name, rule, tuple(f"results/{name}.{kind}" for kind in kinds), f"logs/report/{rule}.log")


def _data_report() -> Job:
    names = ("data.csv", "data_lengths.csv", "data.md", "data.pdf", "data.png")
    return Job("data", "data_report", tuple(f"results/{name}" for name in names), "logs/report/data.log")


def _error_rate(run: str) -> Job:
    name = f"alignment_error_rate/{run}"
    return Job(name, "alignment_error_rate", (f"results/{name}.json",), f"logs/report/{name}.log")


def _downloads(config: Config) -> Iterator[Job]:
    for archive in archives_in_use(config):
        path = config.archives[archive].path
        yield Job(path, "download", (f"data/archives/{path}",), f"logs/download/{path}.log")


def _extractions(config: Config) -> Iterator[Job]:
    for corpus in prepared_corpora(config):
        if config.corpora[corpus].grammar is None:
            yield _raw(config, corpus, "extract", _languages(config))


def _generated(config: Config) -> Iterator[Job]:
    for corpus in prepared_corpora(config):
        if config.corpora[corpus].grammar is not None:
            yield _raw(config, corpus, "generate", (*_languages(config), "align"))


def _raw(config: Config, corpus: str, verb: str, kinds: Sequence[str]) -> Job:
    folder = f"data/raw/{corpus}"
    files = [f"{folder}/{shard}.{kind}.zst" for shard in _shards(config.corpora[corpus]) for kind in kinds]
    return Job(corpus, f"{verb}_{corpus}", (*files, f"{folder}/counts.json"), f"logs/{verb}/{corpus}.log")


def _cleaned(config: Config) -> Iterator[Job]:
    for name in _corpus_shards(config, prepared_corpora(config)):
        sides = _both_sides(config, f"data/clean/{name}")
        yield Job(name, "clean", (*sides, f"data/clean/{name}.counts.json"), f"logs/clean/{name}.log")


def _tokenized(config: Config) -> Iterator[Job]:
    for name in _corpus_shards(config, prepared_corpora(config)):
        for language in _languages(config):
            side = f"{name}.{language}"
            yield Job(side, "tokenize", (f"data/tokens/{side}.zst",), f"logs/tokenize/{side}.log")


def _selected(config: Config) -> Iterator[Job]:
    if not config.selection.enabled:
        return
    models = "data/selection/lm"
    sample = tuple(_both_sides(config, f"{models}/out"))
    yield Job("sample", "sample_out_of_domain", sample, "logs/select/sample.log")
    programs = tuple(str(KENLM / program) for program in ("lmplz", "build_binary"))
    yield Job("lmplz", "kenlm_programs", programs, "logs/select/kenlm_programs.log")
    for domain in ("in", "out"):
        for language in _languages(config):
            name = f"{domain}.{language}"
            yield Job(name, "language_model", (f"{models}/{name}.binary",), f"logs/select/{name}.log")
    for budget in _budgets(config):
        file = f"{budget}threshold"
        yield Job(file, "threshold", (f"data/selection/{file}.json",), f"logs/select/{file}.log")
    for name in _corpus_shards(config, config.use.train):
        scores = (f"data/selection/{name}.scores.npy", f"data/selection/{name}.histogram.json")
        yield Job(f"{name}.score", "score_pairs", scores, f"logs/select/{name}.score.log")
        chosen = tuple(_both_sides(config, f"data/selected/{name}"))
        yield Job(name, "select", chosen, f"logs/select/{name}.log")


def _budgets(config: Config) -> list[str]:
    """Folders of the thresholds: the common one's is empty, a corpus with a word budget of its own has another."""
    own = config.selection.corpus_words
    return list(dict.fromkeys(f"{corpus}/" if corpus in own else "" for corpus in config.use.train))


def _vocabularies(config: Config) -> Iterator[Job]:
    for language in _languages(config):
        yield Job(
            language, "vocabulary", (f"data/vocabulary/{language}.tsv",), f"logs/vocabulary/{language}.log"
        )


def _binarized() -> Iterator[Job]:
    for part in ("train", "dev"):
        files = tuple(f"data/binary/{part}/{name}" for name in BITEXT_FILES)
        yield Job(part, "binarize", files, f"logs/binarize/{part}.log")


def _overlapping(config: Config) -> Iterator[Job]:
    """Training shards held against the development and test text, and rid of what they share with it if asked."""
    sides = (config.languages.source, config.languages.target) if config.overlap.drop != "none" else ()
    rule = "drop_overlap" if sides else "overlap"
    for corpus in config.use.train:
        for shard in range(config.corpora[corpus].shards):
            name = f"{corpus}/{shard}"
            kept = (f"data/kept/{name}.{side}.zst" for side in sides)
            yield Job(name, rule, (*kept, f"data/overlap/{name}.json"), f"logs/overlap/{name}.log")


def _counted(config: Config) -> Iterator[Job]:
    for name in _corpus_shards(config, prepared_corpora(config)):
        yield Job(name, "count", (f"data/counts/{name}.json",), f"logs/count/{name}.log")
    yield Job("sum", "sum_counts", ("data/counts.json",), "logs/count/sum.log")


def _languages(config: Config) -> tuple[str, str]:
    return config.languages.source, config.languages.target


def _shards(corpus: Corpus) -> list[str]:
    return [str(shard) for shard in range(corpus.shards)]


def _corpus_shards(config: Config, corpora: Sequence[str]) -> list[str]:
    return [f"{corpus}/{shard}" for corpus in corpora for shard in _shards(config.corpora[corpus])]


def _both_sides(config: Config, stem: str) -> list[str]:
    return [f"{stem}.{language}.zst" for language in _languages(config)]
