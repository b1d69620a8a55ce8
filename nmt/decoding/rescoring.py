"""Rescoring another system's n-best lists (Sutskever et al., 2014, Sec. 3.2): its scores interpolated with the models'.

    score = w log p(T | S) + (1 - w) score of the list      w = 1/2: "an even average"

The log-probabilities are computed and stored next to the output, some sentences at a time, so that a killed process can
resume. Only the current lists are in memory.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, replace
from functools import partial
from operator import attrgetter
from pathlib import Path

import torch

import nmt
from nmt.backend.device import device_name
from nmt.data.batches import map_in_batches
from nmt.decoding.forced_decoding import Scorer
from nmt.decoding.n_best_lists import NBestEntry, NBestList, read_n_best_lists
from nmt.evaluation.translations import split_words
from nmt.io.files import sha256
from nmt.io.journal import Journal
from nmt.io.progress import Progress
from nmt.io.system import describe_processor
from nmt.io.text_files import pair_lines, read_lines, write_lines
from nmt.settings.decoding import Average
from nmt.store.trained_model import Tokens, TrainedModel

HYPOTHESES_PER_GROUP = 2000
"""Minimum number of hypotheses of the sentences that are scored together. A killed process loses at most this work."""
_DIGITS = 6
"""Decimals of a log-probability."""


@dataclass(frozen=True)
class Rescorer:
    """Scores hypotheses with models.

    Attributes:
        models: models that share their vocabularies.
        average: whether several models average probabilities or their logarithms.
        batch_size: hypotheses per batch.
        weight: the models' weight w in the interpolated score.
    """

    models: Sequence[TrainedModel]
    average: Average = "probability"
    batch_size: int = 256
    weight: float = 0.5

    def compute_log_probabilities(
        self, sentences: Sequence[tuple[Tokens, Sequence[str]]]
    ) -> list[list[float]]:
        """Return log p(T | S) of the hypotheses of each sentence, in nats, the end symbol included.

        Each source is encoded once for all its hypotheses. Hypotheses of similar length are scored together, and equal
        hypotheses of a sentence once.

        Args:
            sentences: source tokens and hypotheses of each sentence.
        """
        # 1. the distinct hypotheses of each sentence, in their order: (index of the sentence, text) -> tokens
        hypotheses: dict[tuple[int, str], Tokens] = {}
        for row, (_, texts) in enumerate(sentences):
            for text in texts:
                hypotheses[row, text] = split_words(text)

        # 2. score them
        scorer = Scorer(self.models, [source for source, _ in sentences], self.average)
        scores = map_in_batches(
            partial(scorer.score_batch, keep_attention=False),
            items=[(row, tokens) for (row, _), tokens in hypotheses.items()],
            lengths=[len(tokens) for tokens in hypotheses.values()],
            batch_size=self.batch_size,
        )
        scores_of_hypotheses = dict(zip(hypotheses, scores, strict=True))

        # 3. return a score for every hypothesis, the same for equal ones
        log_probs = []
        for row, (_, texts) in enumerate(sentences):
            log_probs.append([scores_of_hypotheses[row, text].log_probability for text in texts])
        return log_probs

    def interpolate(
        self, entries: Sequence[NBestEntry], log_probabilities: Sequence[float]
    ) -> list[NBestEntry]:
        """Return the entries, best first. The score is the weighted mean, the log-probability one more feature."""
        new_entries = []
        for entry, log_probability in zip(entries, log_probabilities, strict=True):
            score = self.weight * log_probability + (1 - self.weight) * entry.score
            features = f"{entry.features} NMT0= {log_probability:.4f}".strip()
            new_entries.append(replace(entry, score=score, features=features))
        return sorted(new_entries, key=attrgetter("score"), reverse=True)


def rescore_n_best_lists(
    rescorer: Rescorer, source: Path, n_best_lists: Path, output: Path, new_lists: Path | None
) -> int:
    """Rescore the n-best lists of a tokenized text, and return its number of sentences.

    If the process is killed, the same call resumes, and its output has the same bytes.

    Args:
        rescorer: the models and their weight.
        n_best_lists: the n-best lists of the text, `source`.
        output: file for the best hypothesis of each sentence.
        new_lists: file for the sorted n-best lists with their new scores, or None.

    Raises:
        UserError: n-best lists and source do not fit together, or a line is malformed.
    """
    # 1. the inputs that the log-probabilities depend on: with the same inputs, the work of a killed process is used
    inputs = [_compute_models_digest(rescorer.models), rescorer.average, rescorer.batch_size]
    inputs += [HYPOTHESES_PER_GROUP, sha256(source), sha256(n_best_lists)]
    inputs_digest = hashlib.sha256(json.dumps(inputs).encode()).hexdigest()

    sentence_count = sum(1 for _ in read_lines(source))
    with (
        Journal(output, inputs_digest) as journal,
        write_lines(output) as best_writer,
        write_lines(new_lists) if new_lists else nullcontext() as list_writer,
        Progress(sentence_count, "sentences", "rescore") as progress,
    ):
        for group_number, group in enumerate(_group_sentences(read_n_best_lists(n_best_lists, source))):
            # 2. compute the log-probabilities of a group, unless a killed process has stored them
            if group_number not in journal.results:
                sentences = [(n_best_list.source, n_best_list.texts) for n_best_list in group]
                log_probs = rescorer.compute_log_probabilities(sentences)
                journal.add(group_number, [[round(value, _DIGITS) for value in row] for row in log_probs])

            # 3. write the new lists
            for n_best_list, row in zip(group, journal.results[group_number], strict=True):
                entries = rescorer.interpolate(n_best_list.entries, log_probabilities=row)
                best_writer.write(entries[0].text)
                if list_writer:
                    for entry in entries:
                        list_writer.write(entry.format(n_best_list.number))
            progress.update(len(group))
    return sentence_count


def _compute_models_digest(models: Sequence[TrainedModel]) -> str:
    """Return a SHA-256 of what decides translations: the models, the versions of nmt and PyTorch, and the device."""
    digest = hashlib.sha256()
    for model in models:
        digest.update(model.run.architecture.model_dump_json().encode())
        digest.update(f"{model.source_vocabulary.sha256} {model.target_vocabulary.sha256}".encode())
        for weight in model.network.state_dict().values():
            digest.update(weight.cpu().contiguous().numpy())
    device = device_name(models[0].device)
    digest.update(json.dumps([nmt.__version__, device, describe_processor(), torch.__version__]).encode())
    return digest.hexdigest()


def _group_sentences(n_best_lists: Iterator[NBestList]) -> Iterator[list[NBestList]]:
    """Yield groups of consecutive sentences that are scored together."""
    group: list[NBestList] = []
    hypothesis_count = 0
    for n_best_list in n_best_lists:
        group.append(n_best_list)
        hypothesis_count += len(n_best_list.entries)
        if hypothesis_count >= HYPOTHESES_PER_GROUP:
            yield group
            group, hypothesis_count = [], 0
    if group:
        yield group


# --- the oracle ------------------------------------------------------------------------------------------------------


def write_oracle(source: Path, n_best_lists: Path, reference: Path, output: Path) -> int:
    """Write the hypothesis of each line that has the highest BLEU against the reference. Return the number of lines.

    It is the sentence BLEU on tokens, cased. This is the oracle of Table 2 of Sutskever et al. (2014).

    Raises:
        UserError: source, n-best lists and reference do not fit together, or a line is malformed.
    """
    # imported here, since sacrebleu is slow to import and rescoring does not need it
    from nmt.evaluation.bleu import compute_sentence_bleu, count_matches

    references = [*read_lines(reference)]
    pairs = pair_lines(source, reference, read_n_best_lists(n_best_lists, source), references)
    with Progress(len(references), "sentences", "oracle") as progress, write_lines(output) as writer:
        for n_best_list, reference_line in pairs:
            # the first of several with the same BLEU
            best_text = max(
                n_best_list.texts, key=lambda text: compute_sentence_bleu(count_matches(text, reference_line))
            )
            writer.write(best_text)
            progress.update()
    return len(references)
