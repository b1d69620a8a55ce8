"""Corpora that the grammar writes: splits that share no sentence, distributed over shards.

A hash of the English text decides the split of a pair, so that no two splits share a sentence, whatever their sizes.
"""

import hashlib
import random
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from pathlib import Path

from nmt.data.shards import ShardFiles
from nmt.io.files import atomic_path, write_json
from nmt.io.progress import Progress
from pipeline.config.catalogue import GrammarSettings, Split
from pipeline.grammar.grammar import Grammar, SentencePair

SPLIT_OF_HASH: tuple[Split, ...] = ("dev", "dev", "test", "test") + ("train",) * 12
"""The split of a pair, by the hash of its English text modulo 16."""


def generate_pairs(settings: GrammarSettings, split: Split, count: int) -> Iterator[SentencePair]:
    """Yield `count` pairs of a split, always the same. No English sentence is twice in dev or in test."""
    grammar = Grammar(settings)
    rng = random.Random(f"{split} {settings.seed}")
    used_hashes: set[bytes] = set()  # only of dev and test
    remaining_pairs = count
    while remaining_pairs:
        pair = grammar.generate_pair(rng)
        text_hash = hashlib.blake2b(pair.english_text().encode(), digest_size=16).digest()
        if SPLIT_OF_HASH[text_hash[0] % len(SPLIT_OF_HASH)] != split or text_hash in used_hashes:
            continue
        if split != "train":
            used_hashes.add(text_hash)
        yield pair
        remaining_pairs -= 1


def write_corpus(
    settings: GrammarSettings,
    split: Split,
    count: int,
    sources: Sequence[Path],
    targets: Sequence[Path],
    alignments: Sequence[Path],
    counts: Path,
) -> None:
    """Write the pairs of a split, and their alignments.

    Args:
        settings: the settings of the grammar.
        split: the split of the pairs.
        count: number of pairs.
        sources: files for the shards of the English text.
        targets: files for the shards of the French text.
        alignments: files for the shards of the links, in Pharaoh format.
        counts: JSON file for the number of pairs, and of words (separated by white space) on each side.
    """
    source_words = target_words = 0
    with ExitStack() as stack:
        shard_files = []  # of the English text, the French text and the links
        for paths in (sources, targets, alignments):
            temporary_paths = [stack.enter_context(atomic_path(path)) for path in paths]
            shard_files.append(stack.enter_context(ShardFiles(temporary_paths)))
        progress = stack.enter_context(Progress(count, "pairs", f"generate {split}"))

        for number, pair in enumerate(generate_pairs(settings, split, count)):
            english, french = pair.english_text(), pair.french_text()
            for shards, line in zip(shard_files, (english, french, pair.format_pharaoh()), strict=True):
                shards.open_writer(number).write(line)
            source_words += len(english.split())
            target_words += len(french.split())
            progress.update(1)
    write_json(counts, {"pairs": count, "source_words": source_words, "target_words": target_words})
