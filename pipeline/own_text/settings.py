"""The settings of an experiment on a user's text, with sizes and updates for its amount."""

from __future__ import annotations

import math
import re
import textwrap
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from string import Template

from nmt.errors import UserError, printable
from nmt.io.files import write_text
from nmt.settings.text import LANGUAGES, Languages
from pipeline.own_text.text import PARTS, Given, Statistics, write_parts

_LANGUAGE = re.compile(r"[a-z]{2,3}")
UNSEGMENTED = ("bo", "ja", "km", "lo", "my", "th", "yue", "zh")
"""Languages that write no spaces between words, so that Moses' rules find whole clauses."""
MANY_UNKNOWN = 0.05
"""Share of unknown words in the development text from which on subword units are advised."""
LONGEST, SHORTEST = 50, 10
"""Range of the greater length limit. The paper's limit is its upper end."""
SHORTER = 0.6
"""The smaller length limit as a share of the greater one: 30 of 50 in the paper."""
LARGEST_VOCABULARY = 30_000
"""The size of the paper's vocabularies."""
PAIRS_OF_SHARD, MOST_SHARDS = 1_000_000, 500
STAR = 2
"""Limit for the updates of RNNsearch-N* as a multiple of those of RNNsearch-N."""


@dataclass(frozen=True)
class Sizes:
    """Settings for text of up to so many training pairs, from an experiment.

    units: hidden, embedding, maxout and alignment. init_std: in general, and of the alignment model. updates: limits
    for the updates of so many epochs. rates: updates per hour of RNNencdec and RNNsearch on one core with sentences of
    `length` tokens; None if they need a GPU.
    """

    pairs: float
    after: str
    units: tuple[int, int, int, int]
    init_std: tuple[float, float]
    batch_size: int
    learning_rate: float
    epochs: float
    updates: tuple[int, int]
    rates: tuple[int, int] | None
    length: float
    gigabytes: int


SIZES = (
    Sizes(
        pairs=200_000,
        after="experiments/multi30k",
        units=(256, 192, 192, 256),
        init_std=(0.08, 0.02),
        batch_size=64,
        learning_rate=0.001,
        epochs=6,
        updates=(1000, 15_000),
        rates=(50_000, 18_000),
        length=13,
        gigabytes=4,
    ),
    Sizes(
        pairs=3_000_000,
        after="experiments/overnight",
        units=(500, 300, 250, 500),
        init_std=(0.05, 0.01),
        batch_size=80,
        learning_rate=0.0015,
        epochs=3,
        updates=(10_000, 40_000),
        rates=(2700, 1500),  # those of overnight, with bf16, divided by 2.6
        length=25,
        gigabytes=5,
    ),
    Sizes(
        pairs=math.inf,
        after="the paper",
        units=(1000, 620, 500, 1000),
        init_std=(0.01, 0.001),
        batch_size=80,
        learning_rate=0.0005,
        epochs=3,
        updates=(40_000, 300_000),
        rates=None,
        length=25,
        gigabytes=32,
    ),
)


@dataclass(frozen=True)
class Proposal:
    """The numbers of the settings. updates: of the first four models. units: of subwords in each language, or None."""

    sizes: Sizes
    limits: tuple[int, int]
    vocabulary: tuple[int, int]
    updates: int
    rates: tuple[int, int] | None
    units: int | None = None

    @classmethod
    def of(cls, text: Statistics, units: int | None = None) -> Proposal:
        """Return what suits a text. A sentence has more subword units than words, so their limit is the paper's."""
        pairs = text.pairs["train"]
        sizes = next(sizes for sizes in SIZES if pairs <= sizes.pairs)
        longest = LONGEST if units else min(LONGEST, max(SHORTEST, text.longest))
        wanted = round(sizes.epochs * pairs / sizes.batch_size, -2)
        fewest, most = sizes.updates
        slower = sizes.length / max(1.0, text.mean_length)
        source, target = (min(LARGEST_VOCABULARY, words) for words in text.repeated_words)
        return cls(
            sizes=sizes,
            limits=(round(SHORTER * longest), longest),
            vocabulary=(max(1, source), max(1, target)),
            updates=int(min(most, max(fewest, wanted))),
            rates=None
            if sizes.rates is None
            else (_round(sizes.rates[0] * slower), _round(sizes.rates[1] * slower)),
            units=units,
        )

    @property
    def hours(self) -> float | None:
        """Return hours of training on two cores, if two cores can do it."""
        if self.rates is None:
            return None
        plain, search = self.rates
        return self.updates * (2 / plain + (1 + STAR) / search) / 2


def _round(number: float) -> int:
    """Round to two digits."""
    return int(float(f"{number:.1e}"))


def new_experiment(
    folder: Path,
    given: Mapping[str, Given],
    codes: tuple[str, str] | None,
    tokenized: bool,
    units: int | None = None,
) -> tuple[Statistics, Proposal, list[str]]:
    """Write an experiment's text and, when that is done, its settings. Return what was found, proposed and is advised.

    Args:
        folder: of the experiment; there must be none in it yet.
        given: the training text, and of dev and test what there is.
        codes: of source and target language; None: as the files' names end.
        tokenized: whether the text is tokens already.
        units: subword units of each language; None: words.

    Raises:
        UserError: text or names that cannot be used.
    """
    config = folder / "config.yaml"
    if config.exists():
        raise UserError(f"{config}: there is an experiment already; name another folder, or remove this file")
    languages = _languages(given["train"], codes)
    sides = (languages.source, languages.target)
    files = {part: (f"text/{part}.{sides[0]}.zst", f"text/{part}.{sides[1]}.zst") for part in PARTS}
    outputs = {part: (folder / source, folder / target) for part, (source, target) in files.items()}
    found = write_parts(given, languages, outputs, tokenized)
    proposal = Proposal.of(found, units)
    write_text(config, settings(given, languages, files, found, proposal, tokenized))
    return found, proposal, _advice(languages, found, proposal, tokenized)


def _advice(languages: Languages, text: Statistics, proposal: Proposal, tokenized: bool) -> list[str]:
    """Return lines about a tokenizer or a vocabulary that does not suit the languages."""
    lines = []
    for _, code in languages if not tokenized else ():
        if code in UNSEGMENTED and not proposal.units:
            lines.append(
                f"{code} has no spaces between words, and Moses' rules do not cut it: take subword units"
                " (--subwords 8000, make's UNITS=8000), or cut it with another tool (--tokenized)"
            )
        elif code not in LANGUAGES:
            lines.append(
                f"{code} is none of Moses' languages: its general rules, those of English, cut the text"
            )
    if not proposal.units:
        source, target = text.unknown_share(proposal.vocabulary)
        shares = f"{source:.1%} {languages.source}, {target:.1%} {languages.target}"
        found = f"unknown words of the development text, about: {shares}"
        many = max(source, target) > MANY_UNKNOWN
        lines.append(f"{found}; with subword units there are hardly any (--subwords 8000)" if many else found)
    return lines


def _languages(train: Given, codes: tuple[str, str] | None) -> Languages:
    """Return the codes that are given, or those that the files' names end in."""
    found = codes or (_ending(train.source), _ending(train.target or train.source))
    for code in found:
        if not _LANGUAGE.fullmatch(code):
            raise UserError(
                f"--languages (make's LANGUAGES): found {code!r}, expected a code of two or three small letters"
            )
    if found[0] == found[1]:
        raise UserError(f"--languages (make's LANGUAGES): found {found[0]!r} twice, expected two languages")
    return Languages(source=found[0], target=found[1])


def _ending(file: Path) -> str:
    """Return the language that a file's name ends in: europarl.de.gz."""
    suffix = (file.with_suffix("") if file.suffix in (".gz", ".zst", ".bz2", ".xz") else file).suffix[1:]
    if suffix not in LANGUAGES and not re.fullmatch("[a-z]{2}", suffix):
        raise UserError(
            f"{file}: its name ends in no language such as .de: say both, source first (--languages de es; make's"
            ' LANGUAGES="de es")'
        )
    return suffix


def settings(
    given: Mapping[str, Given],
    languages: Languages,
    files: Mapping[str, tuple[str, str]],
    text: Statistics,
    proposal: Proposal,
    tokenized: bool,
) -> str:
    """Return the experiment's `config.yaml`."""
    sizes, (short, long) = proposal.sizes, proposal.limits
    hidden, embedding, maxout, alignment = sizes.units
    rates = dict(zip(("rnnencdec", "rnnsearch"), proposal.rates or (), strict=False))
    hours = math.ceil(proposal.hours) if proposal.hours else 120
    values = {
        "description": _description(given, languages, text),
        "source": languages.source,
        "target": languages.target,
        "corpora": "\n".join(
            _corpus(part, *sides, text.pairs[part], tokenized) for part, sides in files.items()
        ),
        "vocabulary": _vocabulary(proposal),
        "after": sizes.after,
        "hidden": hidden,
        "embedding": embedding,
        "maxout": maxout,
        "alignment": alignment,
        "init_std": sizes.init_std[0],
        "alignment_init_std": sizes.init_std[1],
        "learning_rate": sizes.learning_rate,
        "batch_size": sizes.batch_size,
        "validate_every": max(100, proposal.updates // 1000 * 100),
        "limits": "The paper's limits, in units"
        if proposal.units
        else f"98% of the pairs have up to {long} tokens (the limit is 50 at most)",
        "short": short,
        "long": long,
        "updates": proposal.updates,
        "epochs": f"{proposal.updates * sizes.batch_size / text.pairs['train']:.1f}",
        "star_updates": STAR * proposal.updates,
        "beyond": math.ceil(long * 1.2 / 5) * 5,
        "window": max(2, long // 6),
        "middle": [long // 4, max(short, long // 4 + 1)],
        "rates": "{" + ", ".join(f"{family}: {rate}" for family, rate in rates.items()) + "}",
        "estimate": f"on one core each: {proposal.hours:.1f} h for all on two"
        if proposal.hours
        else "for a GPU",
        "train_hours": max(2, hours),
        "gigabytes": sizes.gigabytes,
    }
    return _SETTINGS.substitute(values)


def _vocabulary(proposal: Proposal) -> str:
    """Return the settings of the vocabulary."""
    if proposal.units:
        return f"""\
# Subword units; max_words of a model is a number of them. Nothing is escaped, since &apos; would take three.
vocabulary: {{words: {proposal.units}, subwords: true}}
tokenization: {{escape: false}}"""
    source, target = proposal.vocabulary
    return f"""\
# The words that occur more than once (in at most 200,000 pairs, evenly spread), up to 30,000; others become [UNK].
vocabulary: {{words: {source}, target_words: {target}}}"""


def _description(given: Mapping[str, Given], languages: Languages, text: Statistics) -> str:
    """Return what the experiment is, as comments."""
    pairs = ", ".join(f"{part} {count:,}" for part, count in text.pairs.items())
    files = printable("; ".join(f"{part}: {files}" for part, files in given.items()))
    lines = [
        f"{languages.source} to {languages.target}, sentence pairs: {pairs}. Made by `nmt new` of {files}."
    ]
    if drawn := " and ".join(part for part in PARTS if part not in given):
        apart = f"{text.left_out:,} pairs with a sentence of {drawn} are left out of train"
        lines.append(f"{drawn} drawn from train; {apart}.")
    return "\n".join(f"# {line}" for paragraph in lines for line in textwrap.wrap(paragraph, 118))


def _corpus(part: str, source: str, target: str, pairs: int, tokenized: bool) -> str:
    """Return the entry of the catalogue; training text is prepared in shards of about a million pairs."""
    shards = min(MOST_SHARDS, math.ceil(pairs / PAIRS_OF_SHARD)) if part == "train" else 1
    flags = (f", shards: {shards}" if shards > 1 else "") + (", tokenized: true" if tokenized else "")
    return f"  own-{part}: {{source: {{file: {source}}}, target: {{file: {target}}}{flags}}}"


_SETTINGS = Template("""\
$description
#
# Sizes, vocabularies, limits and updates were chosen from the amount of text: change what you like before the first
# run. The repository's docs/settings.md explains all keys.

languages: {source: $source, target: $target}

use:
  train: [own-train]
  dev: [own-dev]
  test: [own-test]
  models: [rnnencdec-$short, rnnsearch-$short, rnnencdec-$long, rnnsearch-$long, rnnsearch-$long-star]

corpora:
$corpora

# No selection: all text is trained on.
selection: {enabled: false}

$vocabulary

# Sizes of $after, which suit this amount of text; the start values suit layers of these sizes.
architecture:
  hidden_units: $hidden
  embedding_size: $embedding
  maxout_units: $maxout
  alignment_units: $alignment
  init_std: $init_std
  alignment_init_std: $alignment_init_std

# Adam learns in thousands of updates what takes Adadelta hundreds of thousands; it wants the cost as a mean over
# sentences. The weights with the best development NLL are kept. `auto` takes a GPU where there is one.
training:
  optimizer: adam
  epsilon: 1.0e-8
  learning_rate: $learning_rate
  cost: mean
  batch_size: $batch_size
  keep: best
  validate_every: $validate_every
  checkpoint_every: $validate_every
  log_every: 100
  train_sample: 1000
  device: auto
  threads: 1

# $limits; the smaller limit is three fifths of that, as in the
# paper. Equal updates, some $epochs passes over the text; RNNsearch-$long* goes on until its development NLL has
# stopped falling.
models:
  rnnencdec-$short: {label: RNNencdec-$short, family: rnnencdec, max_words: $short, training: {updates: $updates}}
  rnnsearch-$short: {label: RNNsearch-$short, family: rnnsearch, max_words: $short, training: {updates: $updates}}
  rnnencdec-$long: {label: RNNencdec-$long, family: rnnencdec, max_words: $long, training: {updates: $updates}}
  rnnsearch-$long: {label: RNNsearch-$long, family: rnnsearch, max_words: $long, training: {updates: $updates}}
  rnnsearch-$long-star:
    label: RNNsearch-$long*
    family: rnnsearch
    max_words: $long
    continue_from: rnnsearch-$long
    training: {updates: $star_updates, patience: 3}

# 1-best only: the search then ends as soon as it is certain. Where nothing ends, one with a doubled beam follows.
decoding: {n_best: 1, widening_budget: 3, threads: 1}

artifacts:
  # The paper's numbers are for other text.
  reported: false
  figure2_models: [rnnsearch-$long, rnnsearch-$short, rnnencdec-$long, rnnencdec-$short]
  figure2_max_words: $beyond
  figure2_window: $window
  figure3_model: rnnsearch-$long
  figure3_words: $middle
  table3_models: [rnnencdec-$long, rnnsearch-$long]
  table3_words: $short

resources:
  # Estimated, $estimate.
  updates_per_hour: $rates
  train_hours: $train_hours
  train_memory_gb: $gigabytes
""")
