"""A phrase table with a model's probability of each pair as one more score (Cho et al., 2014a)."""

import math
from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby
from operator import itemgetter
from pathlib import Path

from nmt.decoding.rescoring import HYPOTHESES_PER_GROUP, Rescorer
from nmt.io.text_files import read_lines, write_lines
from nmt.store.trained_model import TrainedModel
from pipeline.moses.phrases import SCORES_FIELD, SEPARATOR, Entry, read_entries


def add_scores(model: TrainedModel, table: Path, texts: Sequence[Path], output: Path) -> None:
    """Write the pairs that the texts may need, with the model's p(target phrase given source phrase) as last score.

    Args:
        model: trained on phrase pairs.
        table: the phrase table, in which the pairs of a source phrase stand together.
        texts: token files of all sentences that will be translated.
        output: the smaller table that is written (gzip).
    """
    # the entries that a translation may need; the table has many more
    max_words = max(len(source_phrase.split()) for source_phrase, *_ in read_entries(table))
    phrases = _collect_phrases(texts, max_words)
    all_entries = read_entries(table, progress_label="moses phrase-scores")
    needed_entries = (entry for entry in all_entries if entry[0] in phrases)

    rescorer = Rescorer([model])
    with write_lines(output) as writer:
        for batch in _batch_by_source(needed_entries):
            n_best_lists = []  # [(["source", "phrase"], ["first target phrase", ...]), ...]
            for source_phrase, entries in batch.items():
                target_phrases = [target_phrase for _, target_phrase, *_ in entries]
                n_best_lists.append((source_phrase.split(), target_phrases))

            # the entries of a source phrase, with the log-probabilities of their target phrases
            scores = rescorer.compute_log_probabilities(n_best_lists)
            for entries, log_probabilities in zip(batch.values(), scores, strict=True):
                for entry, log_probability in zip(entries, log_probabilities, strict=True):
                    entry[SCORES_FIELD] += f" {math.exp(log_probability):.6g}"
                    writer.write(SEPARATOR.join(entry))


def _batch_by_source(entries: Iterable[Entry]) -> Iterator[dict[str, list[Entry]]]:
    """Yield batches of entries that a model scores together: {source phrase: entries with it}.

    A batch is full once it has HYPOTHESES_PER_GROUP entries or more; a source phrase is never in two batches.
    """
    batch: dict[str, list[Entry]] = {}
    for source_phrase, source_entries in groupby(entries, key=itemgetter(0)):
        batch[source_phrase] = list(source_entries)
        if sum(map(len, batch.values())) >= HYPOTHESES_PER_GROUP:
            yield batch
            batch = {}
    if batch:
        yield batch


def _collect_phrases(texts: Sequence[Path], max_words: int) -> set[str]:
    """Return all phrases of the texts with up to `max_words` words."""
    phrases = set()
    for text in texts:
        for line in read_lines(text):
            words = line.split()
            for start in range(len(words)):
                for end in range(start + 1, min(start + max_words, len(words)) + 1):
                    phrases.add(" ".join(words[start:end]))
    return phrases
