"""The figures of a replication package, by their names in the papers' files."""

from __future__ import annotations

import sys
from collections.abc import Callable

from matplotlib.figure import Figure

from nmt.data.vocabulary import Vocabulary
from nmt.errors import UserError
from nmt.evaluation.principal_components import read_panels
from nmt.evaluation.translations import words
from nmt.store.model_folder import HISTORY, SUMMARY
from pipeline.results.artifacts import DATA, VECTORS
from pipeline.results.figures import bleu_curves
from pipeline.results.figures.corpora import corpora_figure
from pipeline.results.figures.figure3 import choose_sentences
from pipeline.results.figures.figure3 import figure3 as draw_figure3
from pipeline.results.figures.learning_curves import learning_curves as draw_learning_curves
from pipeline.results.figures.learning_curves import read_curves
from pipeline.results.figures.length_curves import length_curves as draw_length_curves
from pipeline.results.figures.score_groups import score_groups as draw_score_groups
from pipeline.results.figures.sentence_vectors import sentence_vectors as draw_sentence_vectors
from pipeline.results.inputs import Inputs


def draw(name: str, inputs: Inputs) -> Figure:
    """Return a figure."""
    if name not in _DRAWN:
        raise UserError(f"a paper names the figure {name!r}, which nothing draws; known: {', '.join(_DRAWN)}")
    return _DRAWN[name](inputs)


def _figure2(inputs: Inputs) -> Figure:
    models = inputs.config.models
    shown = [models[name] for name in inputs.settings.figure2_models if name in models]
    return bleu_curves.figure2(inputs.curves(), inputs.settings, {model.max_words for model in shown})


def _figure3(inputs: Inputs) -> Figure:
    """Figure 3. Panel (a) shows any sentence, (b)-(d) the first paper's own sentences if the test set has them."""
    settings = inputs.settings
    model = settings.figure3_model or ""
    everything, known = (inputs.translations(model, mode) for mode in ("all", "no_unk"))
    own = next(iter(inputs.papers.values())).openings
    choice = choose_sentences(everything, known, settings.figure3_words, settings.figure3_seed, own)
    if choice.compromise:
        print(choice.compromise, file=sys.stderr)
    chosen = zip("abcd", choice.records, strict=False)
    lines = ", ".join(f"({letter}) {record.line + 1}" for letter, record in chosen)
    print(f"Figure 3 shows these sentences of the test set: {lines}", file=sys.stderr)
    return draw_figure3(choice.records)


def _score_groups(inputs: Inputs) -> Figure:
    side = inputs.settings.rank_of
    languages = inputs.config.languages
    language = languages.source if side == "source" else languages.target
    ranked = Vocabulary.read(inputs.package.vocabulary(language))
    ranks = [ranked.mean_rank(words(line)) for line in inputs.lines(side)]
    scores = {system: score["by_sentence"] for system, score in inputs.curves().items()}
    return draw_score_groups(scores, ranks, inputs.settings)


def _learning_curves(inputs: Inputs) -> Figure:
    of_run = inputs.package.of_run
    files = [(of_run(run, SUMMARY), of_run(run, HISTORY)) for run in inputs.runs]
    return draw_learning_curves(read_curves(files), inputs.settings)


_DRAWN: dict[str, Callable[[Inputs], Figure]] = {
    "figure2": _figure2,
    "figure3": _figure3,
    "unknown_words": lambda inputs: bleu_curves.unknown_words(inputs.curves(), inputs.settings),
    "length_curves": lambda inputs: draw_length_curves(inputs.curves(), inputs.settings),
    "score_groups": _score_groups,
    "learning_curves": _learning_curves,
    DATA: lambda inputs: corpora_figure(inputs.counts, inputs.config.languages, inputs.reported_data),
    VECTORS: lambda inputs: draw_sentence_vectors(read_panels(inputs.package.vectors)),
}
