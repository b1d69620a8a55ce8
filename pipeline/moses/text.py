"""Text for training and tuning a phrase-based system: plain token files with words on both sides."""

import re
from collections.abc import Iterator, Mapping, Sequence
from itertools import chain
from pathlib import Path

from nmt.data.shards import merge_shards
from nmt.errors import UserError
from nmt.io.progress import Progress
from nmt.io.text_files import read_pairs, write_lines
from pipeline.preparation import SideFiles

RESERVED = re.compile(r"[|<[]")
"""Characters of Moses' own notation. Its tokenizer writes them in a different form."""


def write_text(
    text: Mapping[str, Sequence[SideFiles]],
    outputs: SideFiles,
    max_words: int | None = None,
    sentences: int | None = None,
) -> int:
    """Write the sentence pairs of all corpora one after the other, in constant memory. Return their number.

    Args:
        text: for each corpus, the token files of both sides of all its shards, in order.
        outputs: plain text of source and target, a sentence per line.
        max_words: words of the longest sentence; None keeps all.
        sentences: number of pairs to write, spread evenly over the text; None writes all that are short enough.

    Raises:
        UserError: the text has characters of Moses' own notation.
    """
    # to spread `sentences` pairs evenly, the number of all pairs must be known
    total = 0
    if sentences:
        total = sum(1 for _ in _read_words(text, max_words, "counting pairs"))

    written_count = 0
    with write_lines(outputs[0]) as source_writer, write_lines(outputs[1]) as target_writer:
        pairs = _read_words(text, max_words, "moses text")
        for number, (location, words) in enumerate(pairs, start=1):
            if sentences and not is_selected(number, sentences, total):
                continue
            for writer, side_words in zip((source_writer, target_writer), words, strict=True):
                sentence = " ".join(side_words)
                reserved_character = RESERVED.search(sentence)
                if reserved_character:
                    remedy = "escape it in the tokenized text (| as &#124;, < as &lt;, [ as &#91;)"
                    problem = f"{reserved_character[0]!r}, which Moses takes for its own notation"
                    raise UserError(f"{location}: holds {problem}; {remedy}")
                writer.write(sentence)
            written_count += 1
    return written_count


def _read_words(
    text: Mapping[str, Sequence[SideFiles]], max_words: int | None, label: str
) -> Iterator[tuple[str, list[list[str]]]]:
    """Yield the location (file and line) and the words of both sides of each pair.

    Pairs without words on a side are left out, and pairs with more than `max_words` words on a side.
    """
    files = chain.from_iterable(chain.from_iterable(text.values()))
    with Progress.over_files(files, label) as progress:
        for corpus, shards in text.items():
            shards_words = [_read_shard_words(*shard, progress) for shard in shards]
            for location, words in merge_shards(corpus, shards_words):
                longest = max(map(len, words))
                if all(words) and longest <= (max_words or longest):
                    yield location, words


def _read_shard_words(
    source: Path, target: Path, progress: Progress
) -> Iterator[tuple[str, list[list[str]]]]:
    """Yield the location and the words of both sides of each pair of a shard."""
    for number, pair in enumerate(read_pairs(source, target, progress), start=1):
        yield f"{source}, line {number}", [sentence.split() for sentence in pair]


def is_selected(number: int, count: int, total: int) -> bool:
    """Return whether pair `number` (from 1) of `total` is one of `count` pairs that are spread evenly over a text.

    Example: 3 of 8 pairs are the 3rd, 6th and 8th.
    """
    return number * count // total > (number - 1) * count // total
