"""Whether trainings and translations of a replication package are those that its settings ask for.

A run checks its package before tables are made of it, and `nmt verify` that of others. Each function yields a line for
each contradiction.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from nmt.data.meta import Meta, bitext_checksums
from nmt.data.vocabulary import SPECIALS, UNKNOWN, Vocabulary
from nmt.errors import UserError
from nmt.evaluation.translations import provenance_path, read_provenance, read_translations, split_words
from nmt.io.files import read_json
from nmt.io.text_files import read_pairs
from nmt.settings.base import describe_differences, flatten, read_settings
from nmt.settings.decoding import Decoding
from nmt.settings.training import ModelRun
from nmt.store.model_folder import SETTINGS, SUMMARY, WEIGHTS, list_weights_checksums
from pipeline.config.folder import find_expected_model
from pipeline.config.job_settings import get_text_facts
from pipeline.config.runs import collect_runs, run_settings
from pipeline.results.inputs import Inputs
from pipeline.results.package import MODES, ReplicationPackage


def contradictions(inputs: Inputs) -> Iterator[str]:
    """Yield what contradicts the settings, or itself, in a package."""
    yield from other_decoding(inputs)
    yield from other_weights(inputs)
    yield from other_sentences(inputs)
    if not inputs.config.pretrained.models:  # those were trained with settings of their own
        yield from other_text(inputs)
        yield from other_trainings(inputs)


def other_text(inputs: Inputs) -> Iterator[str]:
    """Yield a line for training or development text, or a vocabulary, that is not made as the settings say."""
    config, package = inputs.config, inputs.package
    metas = {part: read_settings(Meta, package.text_checksums(part)) for part in ("train", "dev")}
    checksums = {part: package.text_checksums(part) for part in metas}
    for part, meta in metas.items():
        if changed := describe_differences(flatten(meta.settings), flatten(get_text_facts(config, part))):
            yield f"{checksums[part]}: text of other settings: {changed}"
    languages = (config.languages.source, config.languages.target)
    for side, language, size in zip(("source", "target"), languages, config.vocabulary.sizes, strict=True):
        file = package.vocabulary(language)
        vocabulary = Vocabulary.read(file)
        for part, meta in metas.items():
            if vocabulary.sha256 != getattr(meta, f"{side}_vocabulary_sha256"):
                yield f"{checksums[part]}: made with another vocabulary than {file}"
        count = len(vocabulary) if config.vocabulary.specials_included else len(vocabulary) - len(SPECIALS)
        # a smaller one has every word of the text
        lacks_words = not vocabulary.has_subwords and _unknown_words(package, side) > 0
        if count > size or (count < size and lacks_words):
            yield f"{file}: {count:,} words, the settings say {size:,}"


def _unknown_words(package: ReplicationPackage, side: str) -> int:
    """Return the number of words of the training text that its vocabulary lacks."""
    if not package.counts.is_file():
        return 0
    corpora = [corpus for corpus in read_json(package.counts) if corpus["part"] == "train"]
    return sum(corpus["stages"][-1][side]["unknown"] for corpus in corpora)


def other_trainings(inputs: Inputs) -> Iterator[str]:
    """Yield a line for each run that was trained with other settings, text or base than the package says."""
    config, package = inputs.config, inputs.package
    data = bitext_checksums(*(read_settings(Meta, package.text_checksums(part)) for part in ("train", "dev")))
    for run in collect_runs(config, config.use.models).values():
        summary, settings = package.run_file(run.name, SUMMARY), package.run_file(run.name, SETTINGS)
        trained, wanted = read_settings(ModelRun, settings), run_settings(config, run)
        if changed := describe_differences(_deciding(trained), _deciding(wanted)):
            yield f"{package.configuration}: other settings of {run.name} than {settings} says: {changed}"
        elif changed := describe_differences(read_json(summary)["data"], data):
            yield f"{summary}: trained on other text than the package has: {changed}"
        elif read_json(summary)["key"] != find_expected_model(config, run, data).key:
            yield f"{summary}: key of another training than these settings, texts and bases make"


def _deciding(run: ModelRun) -> dict[str, Any]:
    names = {"model": run.model, "continue_from": run.continue_from}
    return flatten({**names, **run.fingerprint_fields(), "end": run.ending_fields()})


def other_decoding(inputs: Inputs) -> Iterator[str]:
    """Yield a line for each system whose translations were not made with its settings of the search."""
    for system in inputs.systems.values():
        wanted = system.decoding.deciding_fields()
        for file in _translations(inputs, system.name):
            made = Decoding.model_validate(read_provenance(file)["settings"]).deciding_fields()
            if found := describe_differences(made, wanted):
                where = inputs.package.configuration
                yield f"{where}: other decoding of {system.name} than {provenance_path(file)} says: {found}"
                break


def _translations(inputs: Inputs, system: str) -> list[Path]:
    """Return all files of translations of a system."""
    return [inputs.package.translations(set_name, system, mode) for set_name in inputs.sets for mode in MODES]


def other_weights(inputs: Inputs) -> Iterator[str]:
    """Yield a line for each system whose translations were made with other weights than its members have.

    The weights themselves are looked at where the models' folder lies beside that of the results.
    """
    package, weights = inputs.package, {}
    for run in inputs.runs:
        summary = package.run_file(run, SUMMARY)
        weights[run] = read_json(summary)["weights"]
        file = package.folder.resolve().parent / "models" / run / WEIGHTS
        if (
            file.is_file()
            and not file.is_symlink()
            and weights[run] not in list_weights_checksums(file.parent)
        ):
            yield f"{file}: altered: other weights than those that {summary} names"
    for system in inputs.systems.values():
        expected = [weights[run] for run in system.members]
        for file in _translations(inputs, system.name):
            if [model["sha256"] for model in read_provenance(file)["models"]] != expected:
                yield f"{provenance_path(file)}: made with other weights than the summaries of its models name"


def other_sentences(inputs: Inputs) -> Iterator[str]:
    """Yield a line for each file of translations that has other sentences than its column of Table 1.

    The text of the set and the vocabularies decide which sentences have no unknown word.
    """
    languages = (inputs.config.languages.source, inputs.config.languages.target)
    vocabularies = [Vocabulary.read(inputs.package.vocabulary(language)) for language in languages]
    for set_name in inputs.sets:
        source, target = (inputs.package.text(set_name, language) for language in languages)
        expected = _unknown_words_by_line(source, target, vocabularies)
        for system in inputs.systems:
            for mode in MODES:
                file = inputs.package.translations(set_name, system, mode)
                found = {record.line: record.source_unknown for record in read_translations(file)}
                if found != expected[mode]:
                    yield f"{file}: other sentences or unknown words than text and vocabularies give"


def _unknown_words_by_line(
    source: Path, target: Path, vocabularies: Sequence[Vocabulary]
) -> Mapping[str, dict[int, int]]:
    """Return the number of unknown source words by the line of a sentence, for each column of Table 1."""
    every: dict[int, int] = {}
    known: dict[int, int] = {}
    for line, pair in enumerate(read_pairs(source, target)):
        unknown_source, unknown_target = (
            vocabulary.ids(split_words(sentence)).count(UNKNOWN)
            for vocabulary, sentence in zip(vocabularies, pair, strict=True)
        )
        every[line] = unknown_source
        if not unknown_source and not unknown_target:
            known[line] = 0
    return {"all": every, "no_unk": known}


def check_provenance(inputs: Inputs) -> None:
    """Raise a UserError with what contradicts the settings in the package of a run."""
    if problems := list(contradictions(inputs)):
        raise UserError(*problems)
