"""Two systems' translations of the test set side by side, the sentences with the greatest difference in BLEU first."""

import re
from collections import Counter
from collections.abc import Sequence
from typing import NamedTuple, TextIO

from nmt.errors import UserError, printable
from nmt.evaluation.bleu import compute_sentence_bleu, count_matches
from nmt.io.messages import set_color, wrap_text
from pipeline.results.inputs import Inputs


class ComparedSentence(NamedTuple):
    """A sentence of the test set, with its number from 1, and two systems' translations with their sentence BLEU."""

    number: int
    source: str
    reference: str
    translations: Sequence[str]
    bleu: Sequence[float]

    @property
    def difference(self) -> float:
        """The first system's sentence BLEU minus the second's."""
        return self.bleu[0] - self.bleu[1]


def pair_translations(inputs: Inputs, first_system: str, second_system: str) -> list[ComparedSentence]:
    """Return the sentences of the test set with both systems' translations, in the order of the text.

    Sentence BLEU is sacrebleu's, smoothed (`exp`) and with effective order. Raises a UserError if the results do not
    have a system.
    """
    known_names = inputs.system_names()
    for system in (first_system, second_system):
        if system not in known_names:
            raise UserError(f"{system}: not a system of these results, which have {', '.join(known_names)}")
    lines = zip(
        inputs.read_text("source"),
        inputs.read_text("reference"),
        inputs.system_translations(first_system, "all"),
        inputs.system_translations(second_system, "all"),
        strict=True,
    )
    sentences = []
    for number, (source, reference, *records) in enumerate(lines, start=1):
        translations = [" ".join(record.target) for record in records]
        bleu = [compute_sentence_bleu(count_matches(text, reference)) for text in translations]
        sentences.append(ComparedSentence(number, source, reference, translations, bleu))
    return sentences


def format_side_by_side(
    sentences: Sequence[ComparedSentence], systems: tuple[str, str], max_sentences: int, stream: TextIO
) -> str:
    """Return as text how often each system is better, and the sentences with the greatest differences.

    Half of these sentences are translated better by the first system, half by the second. If the stream is a terminal,
    lines are wrapped, and words that the reference does not have are red.
    """
    # the sentences that each system translates better, the greatest difference first
    sorted_sentences = sorted(sentences, key=lambda sentence: sentence.difference)
    first_wins = [sentence for sentence in reversed(sorted_sentences) if sentence.difference > 0]
    second_wins = [sentence for sentence in sorted_sentences if sentence.difference < 0]
    equal_count = len(sentences) - len(first_wins) - len(second_wins)
    summary = (
        f"{len(sentences):,} sentences: {systems[0]} has the higher sentence BLEU in {len(first_wins):,}, "
        f"{systems[1]} in {len(second_wins):,}; {equal_count:,} are equal"
    )
    displayed_sentences = first_wins[: (max_sentences + 1) // 2] + second_wins[: max_sentences // 2]

    # names and texts in two columns; only translations have red words
    names = ("source", "reference", *systems)
    width = max(len(name) for name in names) + 4
    blocks = [wrap_text(summary, stream)]
    for sentence in displayed_sentences:
        bleu = f"{sentence.bleu[0]:.1f} and {sentence.bleu[1]:.1f} ({sentence.difference:+.1f})"
        lines = [f"sentence {sentence.number}: {bleu}"]
        texts = (sentence.source, sentence.reference, *sentence.translations)
        for name, text in zip(names, texts, strict=True):
            line = wrap_text(f"  {name}".ljust(width) + printable(text), stream, indent=width)
            if name in systems:
                line = line[:width] + _color_unmatched_words(line[width:], sentence.reference, stream)
            lines.append(line)
        blocks.append("\n".join(lines))
    return "\n\n".join(blocks)


def _color_unmatched_words(text: str, reference: str, stream: TextIO) -> str:
    """Return a text with those words in red that the reference has less often, or not at all."""
    remaining_counts = Counter(reference.split())

    def color_word(match: re.Match[str]) -> str:
        word = match[0]
        remaining_counts[word] -= 1
        return word if remaining_counts[word] >= 0 else set_color("red", word, stream)

    return re.sub(r"\S+", color_word, text)
