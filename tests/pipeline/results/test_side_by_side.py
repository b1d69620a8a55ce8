"""Two systems side by side: the numbers are sacrebleu's, and the greatest differences of both sides come first."""

from io import StringIO

import pytest
from sacrebleu import sentence_bleu

from pipeline.results.inputs import Inputs
from pipeline.results.side_by_side import ComparedSentence, format_side_by_side, pair_translations
from tests.messages import refused
from tests.running import ROOT

SYSTEMS = ("rnnsearch-26", "moses")


def test_systems_side_by_side() -> None:
    inputs = Inputs(ROOT / "results" / "packages" / "multi30k")
    pairs = pair_translations(inputs, *SYSTEMS)
    assert len(pairs) == 1000 and pairs[0].number == 1
    for pair in pairs[:50]:
        expected = [
            sentence_bleu(text, [pair.reference], tokenize="none").score for text in pair.translations
        ]
        assert pair.bleu == pytest.approx(expected)

    # the sentences with the greatest difference of each sign
    best = max(pairs, key=lambda pair: pair.difference)
    worst = min(pairs, key=lambda pair: pair.difference)
    headings = [
        line
        for line in format_side_by_side(pairs, SYSTEMS, 2, StringIO()).split("\n")
        if line.startswith("sentence ")
    ]
    assert [int(heading.split()[1].rstrip(":")) for heading in headings] == [best.number, worst.number]

    with refused():
        pair_translations(inputs, "rnnsearch-26", "no-such-system")


def test_other_words_are_red_on_a_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in (("COLUMNS", "40"), ("TERM", "xterm"), ("NO_COLOR", "")):
        monkeypatch.setenv(name, value)
    stream = StringIO()
    stream.isatty = lambda: True  # type: ignore[method-assign]
    translations = ["la la souris et la reine \x1b[2J ne parlent pas", "la reine"]
    sentence = ComparedSentence(7, "the queen", "la reine ne parle pas", translations, [90.0, 10.0])
    lines = format_side_by_side([sentence], ("a", "b"), 1, stream).split("\n")
    assert lines[-4:-1] == [
        "  reference  la reine ne parle pas",
        "  a          la \x1b[31mla\x1b[0m \x1b[31msouris\x1b[0m \x1b[31met\x1b[0m \x1b[31mla\x1b[0m reine",
        "             \x1b[31m\\x1b[2J\x1b[0m ne \x1b[31mparlent\x1b[0m pas",
    ]
