"""Tables of sentences (Table 3, App. C; 2014b, Table 2): source, reference, and the systems' translations."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from nmt.data.detokenization import Detokenizer
from nmt.errors import UserError
from nmt.evaluation.translations import split_words
from pipeline.config.artifacts import ReportSettings
from pipeline.results.example_sentences import find_paper_sentences
from pipeline.results.inputs import Inputs
from pipeline.results.papers import SentenceGroup, SentenceTable
from pipeline.results.seeds import Result
from pipeline.results.tables.latex import RUNNING_TEXT
from pipeline.results.tables.table import Table

_SET_TITLES = {"dev": "development", "test": "test"}


class Sentence(NamedTuple):
    """A sentence that the table may show: a line of a set, from 0, and its source tokens."""

    set_name: str
    line: int
    source: Sequence[str]


def make_sentence_table(paper_table: SentenceTable, inputs: Inputs) -> Table:
    """Return the table of sentences: for each sentence its source, reference and translations, each in a row.

    paper_table: selects the sentences and the other systems, such as Moses. The settings have the models in their
    order, and the number and length of sentences if `paper_table` has none.

    Raises:
        UserError: no sentence has the requested length.
    """
    # 1. choose the sentences, among the sentences that the first model translated
    settings = inputs.settings
    mode = "no_unk" if paper_table.no_unk else "all"
    all_sentences = []
    for set_name in paper_table.sets:
        for record in inputs.system_translations(settings.table3_models[0], mode, set_name):
            all_sentences.append(Sentence(set_name, record.line, record.source))
    sentences: list[Sentence] = []
    origins = []
    groups = [_complete_group(group, settings) for group in paper_table.groups]
    for group in groups:
        paper_sentences, sampled_sentences = _choose_sentences(all_sentences, group, settings.table3_seed)
        sentences += paper_sentences + sampled_sentences
        if paper_sentences:
            origins.append(f"{len(paper_sentences)} of the paper's own sentences")
        if sampled_sentences:
            origins.append(
                f"{len(sampled_sentences)} drawn at random (seed {settings.table3_seed}) from those of "
                f"{_format_lengths(group)}"
            )
    set_titles = " and the ".join(_SET_TITLES[name] for name in paper_table.sets)
    if not sentences:
        raise UserError(
            f"no sentence of the {set_titles} set has {_format_lengths(groups[0])}; "
            "lower artifacts.table3_words or the paper's file"
        )

    # 2. a row for each text of a sentence
    records: list[Result] = []
    rows = []
    group_starts = []
    detokenize_source = Detokenizer(settings.languages.source, settings.tokenization)
    detokenize_target = Detokenizer(settings.languages.target, settings.tokenization)
    targets_by_set: dict[str, dict[str, dict[int, list[str]]]] = {}
    for set_name in paper_table.sets:
        targets_by_set[set_name] = _read_targets(set_name, mode, paper_table, inputs)
    for sentence_set, line, source in sentences:
        group_starts.append(len(records))
        place: Result = {"line": line}
        if len(paper_table.sets) > 1:
            place = {"set": sentence_set, "line": line}
        texts = {"Source": detokenize_source(source)}
        for label, target_lines in targets_by_set[sentence_set].items():
            if line in target_lines:
                texts[label] = detokenize_target(target_lines[line])
        for label, text in texts.items():
            records.append(place | {"words": len(source), "sentence": label, "text": text})
            rows.append([label, text])

    # 3. the table
    condition = " without unknown words" if paper_table.no_unk else ""
    note = (
        f"Sentences of the {set_titles} set{condition}: {', '.join(origins)}. "
        "Text is detokenized; [UNK] is an unknown word."
    )
    headers = ["Sentence", RUNNING_TEXT]
    return Table(
        records,
        headers,
        rows,
        text_columns=headers,
        group_starts=group_starts[1:],
        notes=[note],
    )


def _complete_group(group: SentenceGroup, settings: ReportSettings) -> SentenceGroup:
    """Return the group, with number and length of sentences from the settings if the group has none."""
    if group.sentences is not None:
        return group
    return group.model_copy(
        update={"sentences": settings.table3_sentences, "min_words": settings.table3_words}
    )


def _choose_sentences(
    sentences: Sequence[Sentence], group: SentenceGroup, seed: int
) -> tuple[list[Sentence], list[Sentence]]:
    """Return the paper's own sentences of a group, and sampled sentences of the group's lengths."""
    sources = [sentence.source for sentence in sentences]
    paper_indices = find_paper_sentences(sources, group.openings)[: group.sentences]
    paper_sentences = [sentences[index] for index in paper_indices]
    candidates = []
    for sentence in sentences:
        length = len(sentence.source)
        is_of_length = group.min_words <= length <= (group.max_words or length)
        if is_of_length and sentence not in paper_sentences:
            candidates.append(sentence)
    sample_count = (group.sentences or 0) - len(paper_sentences)
    order = np.random.Generator(np.random.PCG64(seed)).permutation(len(candidates))
    return paper_sentences, [candidates[position] for position in order[:sample_count]]


def _read_targets(
    set_name: str, mode: str, paper_table: SentenceTable, inputs: Inputs
) -> dict[str, dict[int, list[str]]]:
    """Return the tokens of a set's reference and translations, by the labels of the rows and by line."""
    settings = inputs.settings
    targets = {"Reference": dict(enumerate(map(split_words, inputs.read_text("reference", set_name))))}
    other_systems = [name for name in inputs.system_names(set_name) if name in paper_table.other_systems]
    for system in settings.table3_models + other_systems:
        records = inputs.system_translations(system, mode, set_name)
        targets[settings.label(system)] = {record.line: record.target for record in records}
    return targets


def _format_lengths(group: SentenceGroup) -> str:
    """Return text like `30 words or more`."""
    if group.max_words is None:
        return f"{group.min_words} words or more"
    return f"{group.min_words} to {group.max_words} words"
