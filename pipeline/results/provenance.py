"""Whether the trainings and translations of a replication package were made with the package's settings and text.

A run checks its package before it makes tables from it, and `nmt verify` checks packages of others.
"""

from collections.abc import Iterator, Sequence
from itertools import chain, product
from pathlib import Path
from typing import Any

from nmt.data.meta import Meta, data_checksums
from nmt.data.vocabulary import SPECIALS, UNKNOWN, Vocabulary
from nmt.evaluation.translations import provenance_path, read_provenance, read_translations, split_words
from nmt.io.files import read_json
from nmt.io.text_files import read_pairs
from nmt.settings.base import describe_differences, flatten, read_settings
from nmt.settings.decoding import Decoding
from nmt.settings.training import ModelRun
from nmt.store.model_folder import SETTINGS, SUMMARY
from pipeline.config.folder import compute_expected_model
from pipeline.config.job_settings import get_bitext_settings
from pipeline.config.runs import collect_runs, get_run_settings
from pipeline.preparation import SIDES
from pipeline.results.inputs import Inputs
from pipeline.results.package import MODES


def find_contradictions(inputs: Inputs) -> Iterator[str]:
    """Yield a line for each contradiction between a package and its settings, or within the package."""
    yield from check_translations(inputs)
    yield from check_sentences(inputs)
    yield from check_alignments(inputs)
    if not inputs.config.pretrained.models:  # pretrained models were trained with other settings and text
        yield from check_training_text(inputs)
        yield from check_trainings(inputs)


def check_training_text(inputs: Inputs) -> Iterator[str]:
    """Yield a line for training or development text, or a vocabulary, that was made with different settings."""
    config = inputs.config
    vocabularies = [Vocabulary.read(file) for file in inputs.vocabulary_files]

    # text made with the settings, and with these vocabularies
    source_vocabulary, target_vocabulary = vocabularies
    for split in ("train", "dev"):
        meta_file = inputs.bitext_meta(split)
        meta = read_settings(Meta, meta_file)
        recorded_settings = flatten(meta.settings) | {
            "source_vocabulary": meta.source_vocabulary_sha256,
            "target_vocabulary": meta.target_vocabulary_sha256,
        }
        expected_settings = flatten(get_bitext_settings(config, split)) | {
            "source_vocabulary": source_vocabulary.sha256,
            "target_vocabulary": target_vocabulary.sha256,
        }
        changes = describe_differences(recorded_settings, expected_settings)
        if changes:
            yield f"{meta_file}: text that was made with different settings: {changes}"

    # vocabularies with the number of words in the settings; that of a model `init_from` may have any size
    if config.init_from:
        return
    for side, file, vocabulary, size in zip(
        SIDES, inputs.vocabulary_files, vocabularies, config.vocabulary.sizes, strict=True
    ):
        # A vocabulary may be smaller than in the settings if it has every word of the text, or has subwords.
        count = len(vocabulary)
        if not config.vocabulary.specials_included:
            count -= len(SPECIALS)
        may_be_smaller = vocabulary.has_subwords or _count_unknown_words(inputs, side) == 0
        if count > size or (count < size and not may_be_smaller):
            yield f"{file}: {count:,} words, the settings say {size:,}"


def _count_unknown_words(inputs: Inputs, side: str) -> int:
    """Return the number of unknown words on a side of the training text; 0 if the package has no counts."""
    if not inputs.corpus_counts.is_file():
        return 0
    train = [corpus for corpus in read_json(inputs.corpus_counts) if corpus["part"] == "train"]
    return sum(corpus["stages"][-1][side]["unknown"] for corpus in train)


def check_trainings(inputs: Inputs) -> Iterator[str]:
    """Yield a line for each run that was not trained with the package's settings, text and base model."""
    config = inputs.config
    train, dev = (read_settings(Meta, inputs.bitext_meta(split)) for split in ("train", "dev"))
    checksums = data_checksums(train, dev)
    # the weights that all trainings begin with, as the first run recorded them; none if they are random
    initial_weights = {}
    if config.init_from:
        first_data = read_json(inputs.run_file(inputs.runs[0], SUMMARY))["data"]
        initial_weights = {"initial_weights": first_data.get("initial_weights", "")}

    for run in collect_runs(config, config.use.models).values():
        settings_file = inputs.run_file(run.name, SETTINGS)
        summary_file = inputs.run_file(run.name, SUMMARY)
        summary = read_json(summary_file)

        # settings
        trained_fields = _flatten_deciding_settings(read_settings(ModelRun, settings_file))
        expected_fields = _flatten_deciding_settings(get_run_settings(config, run))
        settings_changes = describe_differences(trained_fields, expected_fields)

        # data; a run with a base begins with the weights of the base, any other run with the initial weights
        expected_data = checksums | {"pairs": train.pairs}
        if not run.base:
            expected_data |= initial_weights
        data_changes = describe_differences(
            summary["data"] | {"pairs": summary["train_pairs"]}, expected_data
        )

        # the first difference explains the others
        if settings_changes:
            yield f"{inputs.configuration}: its settings of {run.name} differ from {settings_file}: {settings_changes}"
        elif data_changes:
            yield f"{summary_file}: not trained on the package's text: {data_changes}"
        elif summary["key"] != compute_expected_model(config, run, checksums, initial_weights).key:
            yield f"{summary_file}: a training with these settings, texts and bases has a different key"


def _flatten_deciding_settings(run: ModelRun) -> dict[str, Any]:
    """Return the settings that decide the weights of a run, by their dotted keys."""
    names = {"model": run.model, "continue_from": run.continue_from}
    return flatten({**names, **run.fingerprint_fields(), "end": run.ending_fields()})


def check_translations(inputs: Inputs) -> Iterator[str]:
    """Yield a line for each file of translations that was not made with the settings and weights of its system."""
    checksums = {run: read_json(inputs.run_file(run, SUMMARY))["weights"] for run in inputs.runs}
    for system in inputs.systems.values():
        expected_fields = system.decoding.deciding_fields() | {"average": system.average}
        expected_fields |= {"models": list(system.members)}
        expected_fields |= {f"weights.{run}": checksums[run] for run in system.members}
        for set_name, mode in product(inputs.sets, MODES):
            translations = inputs.translations(set_name, system.name, mode)
            provenance = read_provenance(translations)
            recorded_fields = Decoding.model_validate(provenance["settings"]).deciding_fields()
            recorded_fields |= {
                "average": provenance.get("average", "probability"),
                "mode": provenance["mode"],  # the column of Table 1
                "models": [model["name"] for model in provenance["models"]],
            }
            recorded_fields |= {f"weights.{model['name']}": model["sha256"] for model in provenance["models"]}
            changes = describe_differences(recorded_fields, expected_fields | {"mode": mode})
            if changes:
                file = provenance_path(translations)
                yield f"{inputs.configuration}: the decoding of {system.name} differs from {file}: {changes}"


def check_sentences(inputs: Inputs) -> Iterator[str]:
    """Yield a line for each file of translations that does not have the sentences of its column of Table 1.

    A column has all sentences of the set, or the sentences without unknown words according to the vocabularies.
    """
    vocabularies = [Vocabulary.read(file) for file in inputs.vocabulary_files]
    for set_name in inputs.sets:
        expected_counts = _count_unknown_by_line(inputs.text_files(set_name), vocabularies)

        # {line: number of unknown source words} must be equal in each file and in the text
        for system, mode in product(inputs.systems, MODES):
            file = inputs.translations(set_name, system, mode)
            counts = {record.line: record.source_unknown for record in read_translations(file)}
            if counts != expected_counts[mode]:
                yield f"{file}: its sentences or unknown words do not follow from text and vocabularies"
            if read_provenance(file)["sentences"] != len(counts):
                yield f"{provenance_path(file)}: its number of sentences differs from {file}"


def check_alignments(inputs: Inputs) -> Iterator[str]:
    """Yield a line for each file of attention whose words differ from the test text and its reference."""
    for run in inputs.outputs.aligned_runs:
        file = inputs.alignments(run)
        pairs = read_pairs(*inputs.text_files())
        expected_words = [(split_words(source), split_words(target)) for source, target in pairs]
        words = [(record.source, record.target) for record in read_translations(file)]
        if words != expected_words:
            yield f"{file}: its attention is not of the words of the test text"


def describe_unknown_code(inputs: Inputs) -> Iterator[str]:
    """Yield a line if trainings and translations were made with uncommitted or unknown code."""
    records: list[dict[str, Any]] = list(chain(*inputs.summaries().values()))
    for set_name, system, mode in product(inputs.sets, inputs.systems, MODES):
        records.append(read_provenance(inputs.translations(set_name, system, mode)))
    codes = [record["made_with"]["code"] for record in records]

    # "dirty" is None if git could not say
    unknown_codes = [code for code in codes if not code["commit"] or code["dirty"] is not False]
    if unknown_codes:
        made = f"{len(unknown_codes)} of {len(codes)} trainings and files of translations were made"
        yield f"{inputs.folder}: {made} with code that differs from any commit"


def _count_unknown_by_line(
    text_files: tuple[Path, Path], vocabularies: Sequence[Vocabulary]
) -> dict[str, dict[int, int]]:
    """Return for each column of Table 1 the number of unknown source words by line: {"all": {0: 2, 1: 0}, ...}."""
    counts: dict[str, dict[int, int]] = {"all": {}, "no_unk": {}}
    for line, pair in enumerate(read_pairs(*text_files)):
        source_count, target_count = (
            vocabulary.ids(split_words(text)).count(UNKNOWN)
            for text, vocabulary in zip(pair, vocabularies, strict=True)
        )
        counts["all"][line] = source_count
        if source_count == target_count == 0:
            counts["no_unk"][line] = 0
    return counts
