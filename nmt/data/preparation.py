"""From raw text to tokens in one pass: cleaning, tokenization, overlap with held-out sets, counts.

A removed pair becomes an empty line on both sides, so that line numbers stay those of the raw text.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from nmt.data.cleaning import Cleaner
from nmt.data.overlap import HeldOut
from nmt.data.stage_counts import StageCounts
from nmt.data.tokenization import Tokenizer
from nmt.io.files import write_json
from nmt.io.progress import Progress
from nmt.io.text_files import read_pairs, write_lines
from nmt.settings.text import Cleaning, Languages, Tokenization

Sides = tuple[Path, Path]


def prepare(
    raw: Sides,
    languages: Languages,
    cleaning: Cleaning,
    tokenization: Tokenization | None,
    held_out: Mapping[str, Sequence[Sides]],
    tokens: Sides,
    words: Sides,
    counts: Path,
) -> None:
    """Write the tokens of a shard, and what was counted on the way.

    Args:
        raw: both sides.
        languages: of the sides.
        cleaning: limits for pairs.
        tokenization: the tokenizer's settings; None for text that consists of tokens already.
        held_out: token files (source, target) of each held-out set.
        tokens: files for both sides.
        words: files for the counts of each side's words.
        counts: JSON file for the counts of cleaning (`clean`), of the tokens (`stage`) and of the overlap (`overlap`).
    """
    clean, sentences, found = Cleaner(cleaning), HeldOut(held_out), StageCounts()
    tokenizers = (
        [Tokenizer(code, tokenization) for code in (languages.source, languages.target)]
        if tokenization
        else []
    )
    with (
        Progress.over_files(raw, f"prepare {raw[0]}") as progress,
        write_lines(tokens[0]) as sources,
        write_lines(tokens[1]) as targets,
    ):
        for pair in read_pairs(*raw, progress, errors="surrogateescape"):
            source, target = clean(*pair) or ("", "")
            if tokenizers:
                source, target = tokenizers[0](source), tokenizers[1](target)
            sources.write(source)
            targets.write(target)
            found.add(source, target)
            if held_out:
                sentences.count(source, target)
    found.write_words(*words)
    write_json(counts, {"clean": clean.counts, "stage": found.as_dict("tokens"), "overlap": sentences.counts})
