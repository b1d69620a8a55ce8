"""Tables of docs/results.md: scores, learning statistics, what differs from the paper's run, origins."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

import pandas as pd

from nmt.evaluation.seeds import mean, standard_deviation, with_deviation
from nmt.io.environment import REPOSITORY, release_name
from nmt.io.files import read_json
from pipeline.config.artifacts import FIRST_PAPER
from pipeline.config.experiment import final_stage
from pipeline.config.layers import find_layers, load
from pipeline.config.runs import Run, run_settings, runs_of
from pipeline.config.schema import Config
from pipeline.results.papers import ScoreTable, TrainingTable, read_paper, read_table
from pipeline.results.tables.writer import enough, pipe_table
from workflow.results_page.folder import PAPERS, Experiment
from workflow.results_page.groups import REPORTED, Cells, findings, reported

_WORDS = ("Machine", "Code", "PyTorch")
"""Columns with words."""


def markdown(rows: Sequence[Mapping[str, str]]) -> str:
    """Return rows as a table without empty columns, or nothing without rows. Some columns hold words."""
    if not rows:
        return ""
    frame = pd.DataFrame(rows, dtype=object).fillna("")
    frame = frame.loc[:, (frame != "").any()]
    return pipe_table(frame, {frame.columns[0], *_WORDS})


def scores(experiment: Experiment, name: str, table: ScoreTable) -> list[Cells]:
    """Return a row for each system: its scores with their intervals, and what the paper reports of its models.

    An experiment with no model of the paper has other text: there the paper's number for Moses says nothing.
    """
    rows = {row["id"]: row for row in experiment.csv(name)}
    models = {system for system, row in table.reported.items() if not row.quoted}
    theirs = table.reported if models & set(experiment.planned.use.models) else {}
    labels = {system: row["model"] for system, row in rows.items()}
    labels |= {
        run.model: _not_finished(experiment, run)
        for run in experiment.unfinished.values()
        if run.model not in rows and table.row_of(run.model) is not None
    }
    labels |= {system: row.label for system, row in theirs.items() if row.quoted and system not in rows}
    found = []
    for system, label in labels.items():
        cells = {"Model": label}
        for column, described in table.columns.items():
            cells[f"{described.header} [95%]"] = _score(rows.get(system, {}), column)
        for column, described in table.columns.items():
            cells[f"{described.header}, reported"] = theirs[system].shown(column) if system in theirs else ""
        found.append(cells)
    return found


def _score(row: Mapping[str, str], column: str) -> str:
    if not row.get(f"bleu_{column}"):
        return ""
    deviation = row.get(f"bleu_{column}_std")
    score = with_deviation(float(row[f"bleu_{column}"]), float(deviation) if deviation else None, 2)
    bounds = [row.get(f"{side}_{column}", "") for side in ("low", "high")]
    return f"{score} [{bounds[0]}, {bounds[1]}]" if all(bounds) else score


def _not_finished(experiment: Experiment, run: Run) -> str:
    return f"{experiment.planned.models[run.model].label} (not finished)"


def training(experiment: Experiment, name: str, table: TrainingTable) -> list[Cells]:
    """Return a row per model: learning statistics, the reported ones, and the progress of unfinished models."""
    rows = [(row["id"], row["model"], _statistics(experiment, row)) for row in experiment.csv(name)]
    rows += [
        (run.model, _not_finished(experiment, run), _so_far(experiment, run))
        for run in experiment.unfinished.values()
    ]
    found = []
    for model, label, statistics in rows:
        known = table.reported.get(model)
        theirs = known.model_dump() if known else {}
        cells = {"Model": label, **statistics}
        for header, key, decimals in (
            ("Updates", "updates", 0),
            ("Hours", "hours", 0),
            ("Dev. NLL", "dev_nll", 1),
        ):
            cells[f"{header}, reported"] = _number(theirs.get(key), decimals)
        found.append(cells)
    return found


def within_limit(experiment: Experiment) -> str:
    """Return which models' development NLL is of the sentences within their limit alone; nothing where none's is."""
    models = [experiment.config.models[name] for name in experiment.config.use.models]
    labels = [model.label for model in models if model.training.dev_sentences == "within_limit"]
    return "all models" if len(labels) == len(models) else ", ".join(labels)


def _statistics(experiment: Experiment, row: Mapping[str, str]) -> Cells:
    def number(key: str, decimals: int) -> str:
        return _number(float(row[key]) if row[key] else None, decimals)

    goal = _goals(experiment).get(row["id"]) if row["stopped_by"] == "updates" else None
    fewer = goal is not None and float(row["updates"]) < goal
    return {
        "Updates": number("updates", 0) + (f" of {goal:,}" if fewer else "") + _kept(row),
        "Epochs": number("epochs", 1),
        "Hours": number("hours", 1),
        "Train NLL": number("train_nll", 1),
        "Dev. NLL": number("dev_nll", 1),
    }


def _kept(row: Mapping[str, str]) -> str:
    """Return a note with the updates of kept weights that are not the last ones. Older tables do not state them."""
    kept = row.get("best_update", "").split()
    earlier = any(float(update) != float(row["updates"]) for update in kept)
    return f" (weights of {' / '.join(f'{int(update):,}' for update in kept)})" if earlier else ""


def _goals(experiment: Experiment) -> dict[str, int | None]:
    """Return the updates of each model by the settings as they are now."""
    runs = runs_of(experiment.planned, experiment.planned.use.models).values()
    return {run.model: run_settings(experiment.planned, run).training.updates for run in runs}


def _so_far(experiment: Experiment, run: Run) -> Cells:
    """Return how far a run is, as its state says."""
    history = experiment.histories.get(run.name, [])
    goal = _goals(experiment)[run.model]
    train, dev = ([entry for entry in history if key in entry] for key in ("train_nll", "dev_nll"))
    last = train[-1] if train else {}
    return {
        "Updates": f"{last.get('update', 0):,}" + (f" of {goal:,}" if goal else ""),
        "Epochs": _number(last.get("epoch"), 1),
        "Hours": _number(last["seconds"] / 3600 if last else None, 1),
        "Train NLL": _number(last.get("train_nll"), 1),
        "Dev. NLL": _number(dev[-1]["dev_nll"] if dev else None, 1),
    }


def _number(value: float | None, decimals: int) -> str:
    return "" if value is None else f"{value:,.{enough(value, decimals) if decimals else 0}f}"


def alignment_error_rates(experiment: Experiment) -> list[Cells]:
    """Return a row per model whose attention was compared with known alignments: mean ± deviation over its seeds."""
    rates: dict[str, list[tuple[float, float]]] = {}
    for name, run in experiment.runs.items():
        file = experiment.folder / "alignment_error_rate" / f"{name}.json"
        if file.is_file():
            rate = read_json(file)
            diagonal = rate["baselines"]["diagonal"]["alignment_error_rate"]
            rates.setdefault(run.model, []).append((rate["alignment_error_rate"], diagonal))
    return [
        {
            "Model": experiment.settings.label(model),
            "Attention": _percent(attention),
            "Diagonal": _percent(diagonal),
        }
        for model, (attention, diagonal) in (
            (model, zip(*pairs, strict=True)) for model, pairs in rates.items()
        )
    ]


def _percent(shares: Sequence[float]) -> str:
    values = [100 * share for share in shares]
    return f"{with_deviation(mean(values), standard_deviation(values), 1)}%"


# --- scale and origin -------------------------------------------------------------------------------------------------


def scale(columns: Mapping[str, Cells]) -> list[Cells]:
    """Return a row per setting in which the paper's run and these differ, with a column for each run."""
    paper = load(find_layers(REPOSITORY / "config.yaml", REPOSITORY))
    first = read_paper(PAPERS / f"{FIRST_PAPER}.yaml")
    table = next(table for table in first.tables.values() if isinstance(table, TrainingTable))
    updates = [row.updates for row in table.reported.values() if row.updates]
    theirs = _scale(paper, updates, first.data.selected, None)
    return [
        {"": row, "the paper": cell, **{name: cells[row] for name, cells in columns.items()}}
        for row, cell in theirs.items()
    ]


def of_experiment(experiment: Experiment) -> Cells:
    """Return an experiment's column of the same table."""
    words = _from_data(experiment, "train", final_stage(experiment.config), "words", "target")
    length = _from_data(experiment, "test", "tokens", "length_mean", "source")
    done = [history[-1]["update"] for history in experiment.histories.values() if history]
    return _scale(experiment.config, done, words, length)


def _scale(config: Config, updates: Sequence[int], words: float | None, length: float | None) -> Cells:
    runs = [run_settings(config, run) for run in runs_of(config, config.use.models).values()]

    def each(values: Iterable[object]) -> str:
        return ", ".join(dict.fromkeys(map(str, values)))

    return {
        "target words of training text": _number(words, 0),
        "vocabulary, words per language": f"{config.vocabulary.words:,}",
        "hidden units": each(run.architecture.hidden_units for run in runs),
        "embedding size": each(run.architecture.embedding_size for run in runs),
        "optimizer": each(run.training.optimizer for run in runs),
        "precision of matrix products": each(run.training.precision for run in runs),
        "batch size, pairs": each(run.training.batch_size for run in runs),
        "updates": " to ".join(dict.fromkeys(f"{bound(updates):,}" for bound in (min, max) if updates)),
        "test text": ", ".join(config.use.test),
        "source words per sentence of it": _number(length, 1),
    }


def _from_data(experiment: Experiment, part: str, stage: str, measure: str, side: str) -> float | None:
    wanted = {"part": part, "stage": stage, "measure": measure, "side": side}
    rows = [row for row in experiment.csv("data") if wanted.items() <= row.items()]
    return float(rows[-1]["value"]) if rows else None


def found_first(experiment: Experiment) -> Cells:
    """Return what an experiment found of the first paper's findings, whatever its models are called."""
    return findings(experiment.comparison, experiment.config, experiment.limit, _updates(experiment))


def of_first_paper(columns: Mapping[str, Cells]) -> tuple[str, list[Cells]]:
    """Return the first paper's name, and a row per finding: what it reports, and what each experiment measured."""
    paper = load(find_layers(REPOSITORY / "config.yaml", REPOSITORY))
    file = PAPERS / f"{FIRST_PAPER}.yaml"
    table = read_table(file, "table1", ScoreTable)[1]
    statistics = read_table(file, "table2", TrainingTable)[1]
    theirs = findings(
        reported(table),
        paper,
        min(entry.max_words for entry in paper.models.values()),
        {model: row.updates for model, row in statistics.reported.items() if row.updates},
    )
    every = {REPORTED: theirs, **columns}
    return read_paper(file).name, [
        {"": row, **{name: cells.get(row, "") for name, cells in every.items()}} for row in theirs
    ]


def _updates(experiment: Experiment) -> dict[str, int]:
    """Return the updates of each finished model's first run."""
    return {name: summary["updates"] for name, summary in experiment.summaries.items()}


def origin(experiment: Experiment) -> Cells:
    """Return where an experiment's numbers come from, and the checksums to compare with."""
    made = [summary["made_with"] for summary in experiment.summaries.values()]
    devices = [summary["device"] for summary in experiment.summaries.values()]
    commits = [release_name(found["code"]) for found in made]
    hours = {name: summary["hours"] for name, summary in experiment.summaries.items()}
    # A run that continues another counts the hours of both.
    twice = sum(hours.get(run.base, 0) for run in experiment.runs.values() if run.base)
    return {
        "Experiment": experiment.name,
        "Hours of training": _number(sum(hours.values()) - twice, 1),
        "Machine": ", ".join(dict.fromkeys([*(found["processor"] for found in made), *devices])),
        "Code": ", ".join(dict.fromkeys(commits)),
        "PyTorch": ", ".join(dict.fromkeys(found["packages"]["torch"] for found in made)),
    }
