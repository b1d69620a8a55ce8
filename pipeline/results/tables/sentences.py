"""Tables of sentences (Table 3, App. C; 2014b, Table 2): source, reference, and the systems' translations."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from nmt.data.detokenization import Detokenizer
from nmt.errors import UserError
from nmt.evaluation.translations import TranslationRecord, split_words
from pipeline.config.artifacts import ReportSettings
from pipeline.results.example_sentences import find_paper_sentences, sample_indices
from pipeline.results.papers import SentenceGroup, SentenceTable
from pipeline.results.seeds import Result
from pipeline.results.tables.writer import Table, make_frame, mark_unmatched_words

SOURCE_ROW, REFERENCE_ROW = "Source", "Reference"
"""The names of the first two rows of each sentence."""
_SET_TITLES = {"dev": "development", "test": "test"}


@dataclass(frozen=True)
class SetTexts:
    """The texts of a set."""

    references: Sequence[str]
    """The tokenized lines of the reference."""
    translations: Mapping[str, Sequence[TranslationRecord]]
    """The translations of each model: of all lines, or of the lines without unknown words."""
    plain_text_translations: Mapping[str, Sequence[str]]
    """The tokenized translations of all lines by each system that has only their text."""


@dataclass(frozen=True)
class Sentence:
    """A sentence that the table may show: a line of a set, from 0, and its source tokens."""

    set_name: str
    line: int
    source: Sequence[str]


def make_sentence_table(
    paper_table: SentenceTable, texts_by_set: Mapping[str, SetTexts], settings: ReportSettings
) -> Table:
    """Return the table of sentences: for each sentence its source, reference and translations, each in a row.

    Args:
        paper_table: selects the sentences and the other systems, such as Moses.
        texts_by_set: the texts of each set.
        settings: the models in their order, the seed for sampling, languages and tokenization; and the number and
            length of sentences if `paper_table` has none.

    Raises:
        UserError: no sentence has the requested length.
    """
    # 1. choose the sentences, among the sentences that the first model translated
    all_sentences = []
    for set_name in paper_table.sets:
        for record in texts_by_set[set_name].translations[settings.table3_models[0]]:
            all_sentences.append(Sentence(set_name, record.line, record.source))
    groups = [_complete_group(group, settings) for group in paper_table.groups]
    sentences, origins = _choose_groups(all_sentences, groups, settings.table3_seed)
    set_titles = " and the ".join(_SET_TITLES[name] for name in paper_table.sets)
    if not sentences:
        raise UserError(
            f"no sentence of the {set_titles} set has {_format_lengths(groups[0])}; "
            "lower artifacts.table3_words or the paper's file"
        )

    # 2. a row for each text of a sentence
    records: list[Result] = []
    html_cells = {}
    group_starts = []
    detokenize_source = Detokenizer(settings.languages.source, settings.tokenization)
    detokenize_target = Detokenizer(settings.languages.target, settings.tokenization)
    for sentence in sentences:
        group_starts.append(len(records))
        texts = {SOURCE_ROW: detokenize_source(sentence.source)}
        targets = _collect_targets(sentence, texts_by_set[sentence.set_name], settings)
        for label, tokens in targets.items():
            texts[label] = detokenize_target(tokens)
        for label, text in texts.items():
            if label not in (SOURCE_ROW, REFERENCE_ROW):
                html_cells[len(records), 1] = mark_unmatched_words(text, texts[REFERENCE_ROW])
            row: Result = {
                "set": sentence.set_name,
                "line": sentence.line,
                "words": len(sentence.source),
                "sentence": label,
                "text": text,
            }
            records.append(row)

    # 3. the table
    data = make_frame(records)
    if len(paper_table.sets) == 1:
        data = data.drop(columns="set")
    display = data[["sentence", "text"]].set_axis(["Sentence", "Text"], axis=1)
    condition = " without unknown words" if paper_table.no_unk else ""
    note = (
        f"Sentences of the {set_titles} set{condition}: {', '.join(origins)}. "
        "Text is detokenized; [UNK] is an unknown word."
    )
    return Table(
        data,
        display,
        text_columns=["Sentence", "Text"],
        group_starts=group_starts[1:],
        notes=[note],
        html_cells=html_cells,
    )


def _choose_groups(
    sentences: Sequence[Sentence], groups: Sequence[SentenceGroup], seed: int
) -> tuple[list[Sentence], list[str]]:
    """Return the sentences of the groups, and for the note how many are the paper's, and how many were sampled."""
    chosen_sentences = []
    origins = []
    for group in groups:
        paper_indices, sampled_indices = _choose_sentences(sentences, group, seed)
        chosen_sentences += [sentences[index] for index in paper_indices + sampled_indices]
        if paper_indices:
            origins.append(f"{len(paper_indices)} of the paper's own sentences")
        if sampled_indices:
            origins.append(
                f"{len(sampled_indices)} drawn at random (seed {seed}) from those of {_format_lengths(group)}"
            )
    return chosen_sentences, origins


def _complete_group(group: SentenceGroup, settings: ReportSettings) -> SentenceGroup:
    """Return the group, with number and length of sentences from the settings if the group has none."""
    if group.sentences is not None:
        return group
    return group.model_copy(
        update={"sentences": settings.table3_sentences, "min_words": settings.table3_words}
    )


def _choose_sentences(
    sentences: Sequence[Sentence], group: SentenceGroup, seed: int
) -> tuple[list[int], list[int]]:
    """Return the indices of the paper's own sentences of a group, and of sampled sentences of the group's lengths."""
    count = group.sentences or 0
    sources = [sentence.source for sentence in sentences]
    paper_indices = find_paper_sentences(sources, group.openings)[:count]
    candidates = []
    for index, source in enumerate(sources):
        is_long_enough = len(source) >= group.min_words
        is_short_enough = group.max_words is None or len(source) <= group.max_words
        if is_long_enough and is_short_enough and index not in paper_indices:
            candidates.append(index)
    return paper_indices, sample_indices(candidates, count - len(paper_indices), seed)


def _collect_targets(
    sentence: Sentence, texts: SetTexts, settings: ReportSettings
) -> dict[str, Sequence[str]]:
    """Return the tokens of a sentence's reference and translations, by the labels of the rows."""
    targets: dict[str, Sequence[str]] = {REFERENCE_ROW: split_words(texts.references[sentence.line])}
    for model in settings.table3_models:
        for record in texts.translations[model]:
            if record.line == sentence.line:
                targets[settings.label(model)] = record.target
    for system, lines in texts.plain_text_translations.items():
        targets[settings.label(system)] = split_words(lines[sentence.line])
    return targets


def _format_lengths(group: SentenceGroup) -> str:
    """Return text like `30 words or more`."""
    if group.max_words is None:
        return f"{group.min_words} words or more"
    return f"{group.min_words} to {group.max_words} words"
