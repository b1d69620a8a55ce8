"""Whether a package follows from given models: some translations are repeated, and development NLL is computed.

The last digits of a matrix product depend on processor, GPU and precision, and so do scores. Two hypotheses with almost
the same score may then change places. So a published translation is confirmed, too, if the models give it the published
score, and give their own translation no higher score.
"""

import math
import random
from collections.abc import Iterator, Sequence
from itertools import product
from pathlib import Path

import numpy as np

from nmt.data.batches import PairsWithinLimit
from nmt.data.bitext import Bitext, binarize
from nmt.data.meta import Meta
from nmt.data.vocabulary import Vocabulary
from nmt.decoding.forced_decoding import score_translations
from nmt.decoding.sentence_sets import translate_sentences
from nmt.decoding.translator import SentenceTranslator
from nmt.errors import UserError
from nmt.evaluation.translations import TranslationRecord
from nmt.io.files import read_json, sha256
from nmt.settings.base import read_settings, shorten
from nmt.settings.training import ModelRun
from nmt.store.model_folder import (
    SETTINGS,
    SOURCE_VOCABULARY,
    SUMMARY,
    TARGET_VOCABULARY,
    WEIGHTS,
    list_weights_checksums,
)
from nmt.store.trained_model import load_models
from nmt.training.validation import compute_mean_nll
from pipeline.config.runs import System
from pipeline.results.inputs import Inputs
from pipeline.results.original_text import make_original_text
from pipeline.results.package import MODES
from pipeline.results.ro_crate import RECORD

SENTENCES_PER_FILE = 50
"""Number of repeated translations in each file."""
SCORE_TOLERANCE = 0.01
"""Difference in the log-probability of a word, in nats, that processors, tf32 and weights in 16 bits may cause."""
NLL_TOLERANCE = 1e-3
"""Relative difference in a mean NLL that they may cause."""


def compare_models(inputs: Inputs, models: Path) -> Iterator[str]:
    """Yield a line for each model in a folder whose weights or settings differ from the package."""
    for run in inputs.runs:
        folder = models / run
        if not (folder / WEIGHTS).is_file():
            continue
        summary_file = inputs.run_file(run, SUMMARY)
        settings_file = inputs.run_file(run, SETTINGS)
        if read_json(summary_file)["weights"] not in list_weights_checksums(folder):
            yield f"{folder / WEIGHTS}: its checksum differs from {summary_file}"
        if read_settings(ModelRun, folder / SETTINGS) != read_settings(ModelRun, settings_file):
            yield f"{folder / SETTINGS}: its settings differ from {settings_file}"
        names = (SOURCE_VOCABULARY, TARGET_VOCABULARY)
        for name, vocabulary_file in zip(names, inputs.vocabulary_files, strict=True):
            if Vocabulary.read(folder / name).sha256 != Vocabulary.read(vocabulary_file).sha256:
                yield f"{vocabulary_file}: differs from the vocabulary of {run}"


def repeat_translations(inputs: Inputs, system: System, models: Path) -> Iterator[str]:
    """Translate some sentences of each file of a system, and yield a line for each file with sentences that differ.

    The checksum of the package's record seeds the choice of the sentences.
    """
    folders = [models / run for run in system.members]
    loaded_models = load_models(folders, "auto", system.decoding.threads, announce=False)
    if len(loaded_models) == 1:
        summary_file = inputs.run_file(system.members[0], SUMMARY)
        weight_count = sum(weight.numel() for weight in loaded_models[0].network.parameters())
        if read_json(summary_file)["parameters"] != weight_count:
            yield f"{summary_file}: not the number of the model's weights, which is {weight_count:,}"
    record_checksum = sha256(inputs.folder / RECORD)
    for set_name, mode in product(inputs.sets, MODES):
        file = inputs.translations(set_name, system.name, mode)
        records = inputs.system_translations(system.name, mode, set_name)
        generator = random.Random(f"{record_checksum} {set_name} {system.name} {mode}")
        sample = generator.sample(records, min(SENTENCES_PER_FILE, len(records)))
        forbid_unknown = mode == "no_unk" or system.decoding.unknown == "excluded"
        translator = SentenceTranslator(
            loaded_models, system.decoding, forbid_unknown, keep_attention=False, average=system.average
        )
        differences = list(_compare_translations(translator, sample))
        if differences:
            count = f"{len(differences)} of {len(sample)} sentences"
            yield f"{file}: the models do not confirm {count}; {differences[0]}"


def _compare_translations(
    translator: SentenceTranslator, records: Sequence[TranslationRecord]
) -> Iterator[str]:
    """Yield for each published translation that the models do not confirm its number, from 1, and the reason."""
    repeated_entries = translate_sentences(translator, records, label="repeat translations")

    # the log-probability of each published translation; without the end symbol if it is unfinished
    pairs = [(record.source, record.target) for record in records]
    scores = score_translations(
        translator.models,
        pairs,
        translator.decoding.batch_size,
        keep_attention=False,
        average=translator.average,
    )
    for record, entry, word_scores in zip(records, repeated_entries, scores, strict=True):
        word_log_probs = word_scores.word_log_probabilities
        length = len(word_log_probs)
        score = float(word_log_probs.sum() if record.finished else word_log_probs[:-1].sum())
        written_score = math.nan if record.log_probability is None else record.log_probability
        repeated_score = entry["log_probability"]
        is_repeated = abs(repeated_score - written_score) <= SCORE_TOLERANCE * length
        # With subword units, the search may have written a word in other units than those that are scored here.
        if entry["tokens"] == record.target and is_repeated:
            continue
        sentence = f"sentence {record.line + 1}"
        if not abs(score - written_score) <= SCORE_TOLERANCE * length:  # `not`, so that NaN is reported, too
            yield f"{sentence}: its log-probability is {score:.3f}, not {written_score:.3f}"
        elif entry["tokens"] != record.target:
            repeated_length = len(entry["tokens"]) + 1
            tolerance = SCORE_TOLERANCE * max(length, repeated_length)
            if translator.decoding.normalize_by_length:
                score /= length
                repeated_score /= repeated_length
                tolerance = SCORE_TOLERANCE
            if score < repeated_score - tolerance:
                words = shorten(" ".join(entry["tokens"]))
                yield f"{sentence}: the models translate it as {words!r}, with a higher score"


# --- development NLL --------------------------------------------------------------------------------------------------


def binarize_dev_text(inputs: Inputs, scratch: Path, archives: Path | None) -> Bitext:
    """Return the ids of the development text, which is recreated by `make_original_text`.

    Raises:
        UserError: the ids differ from the text with which the models were trained.
        MissingArchiveError: an archive of the text is not in `archives`.
    """
    corpora = {}
    for folder in make_original_text(inputs, "dev", scratch, archives):
        corpora[folder.name] = [(folder / "tokens.source", folder / "tokens.target")]
    source_vocabulary, target_vocabulary = map(Vocabulary.read, inputs.vocabulary_files)
    bitext = binarize(corpora, source_vocabulary, target_vocabulary, folder=scratch / "binary_dev")
    meta_file = inputs.bitext_meta("dev")
    if bitext.meta.sha256 != read_settings(Meta, meta_file).sha256:
        raise UserError(f"{meta_file}: these are not the ids of the development text")
    return bitext


def compare_dev_nll(inputs: Inputs, run: str, models: Path, dev_text: Bitext) -> Iterator[str]:
    """Yield a line if the development NLL of a model differs from the number in the model's summary."""
    (model,) = load_models([models / run], "auto", inputs.config.decoding.threads, announce=False)
    training = model.run.training
    rows = np.arange(len(dev_text))
    if training.dev_sentences == "within_limit":
        rows = PairsWithinLimit(dev_text, model.run.max_words).rows
    nll = compute_mean_nll(model.network, dev_text, rows, training.batch_size)
    summary_file = inputs.run_file(run, SUMMARY)
    written_nll = read_json(summary_file)["dev_nll"]
    if not math.isclose(nll, written_nll, rel_tol=NLL_TOLERANCE):
        yield f"{summary_file}: dev_nll is {written_nll:.4f}, the model's is {nll:.4f}"
