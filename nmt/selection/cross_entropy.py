"""Selection of training text by bilingual cross-entropy difference (Axelrod et al., 2011, eq. 2).

The score of a pair is [H_in(source) - H_out(source)] + [H_in(target) - H_out(target)], cross-entropies in nats per word
(end symbol included). A smaller score is closer to the in-domain text. Scores are integers, so that one threshold for
all shards is exact. Pairs are selected by score, then corpus (in the order of the config), then global line number, as
long as their target words are within the budget. So the selection is the same for any number of shards.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from nmt.data.shards import compute_global_line
from nmt.errors import UserError
from nmt.io.files import write_json
from nmt.io.npy import map_array, write_array
from nmt.io.progress import Progress
from nmt.io.text_files import read_lines, read_pairs
from nmt.selection.language_models import compute_log_probabilities
from nmt.settings.base import Settings

NATS_PER_STEP = 1e-4
"""One step of a score, in nats per word."""

EXCLUDED = 2**31 - 1
"""The score of a pair with an empty side, which is never selected."""


# --- scores -----------------------------------------------------------------------------------------------------------


def score_shard(
    source_models: Sequence[Path],
    target_models: Sequence[Path],
    programs: Path,
    shard: tuple[Path, Path, Path],
) -> None:
    """Write the scores of the pairs of a shard, as an int32 array (pairs, 2).

    Its columns are the score, in steps of `NATS_PER_STEP` or `EXCLUDED`, and the number of target words.

    Args:
        source_models: files of the in-domain and the out-of-domain language model of the source side.
        target_models: files of the same two models of the target side.
        programs: folder of KenLM's programs.
        shard: token files of source and target, and the file for their scores.
    """
    source, target, output = shard
    # both sides are read three times: to count words, and for two models
    with Progress.over_files([source, target] * 3, f"score {source}") as progress:
        word_counts = np.array(
            [
                (len(source_line.split()), len(target_line.split()))
                for source_line, target_line in read_pairs(source, target, progress)
            ],
            np.int32,
        ).reshape(-1, 2)  # for a shard without pairs, too

        # H_in - H_out of source and target, in nats per word; the end symbol is a word. The models give log10 p
        nats = np.zeros(len(word_counts))
        for column, (side, models) in enumerate([(source, source_models), (target, target_models)]):
            in_domain, out_of_domain = (
                compute_log_probabilities(read_lines(side, progress), model, programs) for model in models
            )
            nats -= (in_domain - out_of_domain) * math.log(10) / (word_counts[:, column] + 1)

    has_empty_side = (word_counts == 0).any(axis=1)
    scores = np.where(has_empty_side, EXCLUDED, np.rint(nats / NATS_PER_STEP))
    rows = np.stack([scores, word_counts[:, 1]], axis=1)
    write_array(output, np.int32, rows.shape, [rows])


# --- the selection ----------------------------------------------------------------------------------------------------


class Threshold(Settings):
    """The selection: pairs with scores below `score`, and pairs with this score before `line` of `corpus`."""

    score: int
    corpus: str
    line: int
    shards: dict[str, int]
    """Number of shards of each corpus, in the order of the config."""
    corpora: list[str]
    budget: int
    target_words: int
    pairs: int

    def is_selected(
        self, scores: NDArray[np.int32], corpus: str, line_numbers: NDArray[np.int64]
    ) -> NDArray[np.bool_]:
        """Return whether each pair of a corpus is selected, (n,), given its score and its line number in the corpus."""
        # A pair with the threshold's score is selected if it comes before the pair at `self.line` of `self.corpus`.
        is_selected: NDArray[np.bool_] = scores < self.score
        if corpus == self.corpus:
            is_selected |= (scores == self.score) & (line_numbers < self.line)
        elif self.corpora.index(corpus) < self.corpora.index(self.corpus):
            is_selected |= scores == self.score
        return is_selected


def choose_threshold(scores: Mapping[str, Sequence[Path]], budget: int, output: Path) -> Threshold:
    """Find and write the threshold that selects pairs up to `budget` target words.

    Pairs are selected in the order of score, corpus and line number, until the next pair would exceed the budget. All
    scores are in memory, with 30 bytes per pair.

    Args:
        scores: files of `score_shard` of all shards of each corpus, in order.
        budget: maximum number of target words.
    """
    # 1. rank all pairs: a stable sort keeps the order of corpora and lines among equal scores
    rows_by_corpus = {}
    for corpus, files in scores.items():
        rows_by_corpus[corpus] = _merge_rows([map_array(path, np.int32) for path in files])
    rows = np.concatenate(list(rows_by_corpus.values()))  # (pairs, 2)
    ranking = np.argsort(rows[:, 0], kind="stable")
    ranking = ranking[rows[ranking, 0] < EXCLUDED]

    # 2. count how many of them are within the budget
    cumulative_words = np.cumsum(rows[ranking, 1], dtype=np.int64)
    pair_count = int(np.searchsorted(cumulative_words, budget, side="right"))

    # 3. the threshold is the first pair beyond the budget; without one, every pair is selected
    score, threshold_corpus, line_number = EXCLUDED, next(iter(scores)), 0
    if pair_count < len(ranking):
        row = int(ranking[pair_count])
        score = int(rows[row, 0])
        # the line number is the row without the rows of earlier corpora: with 5 and 3 pairs, row 6 is line 1 of the
        # second corpus
        line_number = row
        for corpus, corpus_rows in rows_by_corpus.items():
            if line_number < len(corpus_rows):
                threshold_corpus = corpus
                break
            line_number -= len(corpus_rows)

    threshold = Threshold(
        score=score,
        corpus=threshold_corpus,
        line=line_number,
        shards={corpus: len(files) for corpus, files in scores.items()},
        corpora=list(scores),
        budget=budget,
        target_words=int(cumulative_words[pair_count - 1]) if pair_count else 0,
        pairs=pair_count,
    )
    write_json(output, threshold.model_dump())
    return threshold


def _merge_rows(shards: Sequence[NDArray[np.int32]]) -> NDArray[np.int32]:
    """Return the rows of a corpus in the order of its global line numbers, given the rows of each shard."""
    rows = np.empty((sum(map(len, shards)), 2), np.int32)
    for number, shard in enumerate(shards):
        rows[compute_global_line(np.arange(len(shard)), number, len(shards))] = shard
    return rows


def select_pairs(
    threshold: Threshold, corpus: str, shard: int, scores: Path, sides: tuple[Path, Path]
) -> Iterator[tuple[str, str]]:
    """Yield the selected pairs of a shard, and a pair of empty lines in place of each pair that is not selected.

    So every selected pair keeps its global line number.

    Args:
        shard: number of the shard, from 0.
        scores: the scores of the shard, a file that `score_shard` wrote.
        sides: source and target of the shard.

    Raises:
        UserError: the scores belong to a different text.
    """
    rows = map_array(scores, np.int32)
    line_numbers = compute_global_line(np.arange(len(rows)), shard, threshold.shards[corpus])
    selection = iter(threshold.is_selected(rows[:, 0], corpus, line_numbers).tolist())  # a bool for each pair

    pair_count = 0
    with Progress.over_files(sides, f"select {sides[0]}") as progress:
        for pair in read_pairs(sides[0], sides[1], progress):
            is_selected = next(selection, False)  # False if there are too few scores
            yield pair if is_selected else ("", "")
            pair_count += 1
    if pair_count != len(rows):
        raise UserError(
            f"{scores}: {len(rows)} scores, but {sides[0]} has a different number of lines; score the shard again"
        )
