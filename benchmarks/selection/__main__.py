"""What the selection is worth: `make bench-selection`.

Usage: python -m benchmarks.selection [--folder FOLDER] [--held-out CORPUS ...] [--seed N]

FOLDER is an experiment whose data stages have run (`snakemake data`). Trains a language model on the selected text and
one on a random part with as many words, for both sides, and compares their perplexity on corpora that played no part.
Prints the figures and writes benchmarks/results/selection.json.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
from pathlib import Path
from typing import Any

from tabulate import tabulate

from benchmarks.selection import random_part
from benchmarks.selection.perplexity import compare
from benchmarks.selection.random_part import Shard, Taken
from nmt.config.overlays import find_layers, load
from nmt.config.schema import Config
from nmt.data.extraction import Side, extract
from nmt.data.selection import language_models
from nmt.data.selection.cross_entropy import read_threshold
from nmt.data.tokenization import tokenize_file
from nmt.io.text_files import read_lines

ROOT = Path(__file__).parents[2]
PARTS = ("selected", "random")


def main() -> int:
    """Compare, print and write."""
    options = parse()
    folder: Path = options.folder.resolve()
    config = load(find_layers(ROOT / "config.yaml", folder))
    languages = {"source": config.languages.source, "target": config.languages.target}
    shards = training_shards(config, folder / "data")
    threshold = read_threshold(folder / "data" / "selection" / "threshold.json")
    with tempfile.TemporaryDirectory(dir=folder, prefix="bench-selection-") as temporary:
        work = Path(temporary)
        drawn = random_part.draw(shards, threshold.target_words, options.seed, work / "random")
        texts = {
            "random": random_part.take(shards, drawn, work / "random"),
            "selected": selected(shards, folder),
        }
        models = train(texts, config.selection.order, options, work)
        found: dict[str, Any] = {
            "target_words": {"selected": threshold.target_words, "random": drawn.target_words},
            **shares(
                {
                    "all": random_part.taken_by_corpus(shards, None, None),
                    "selected": random_part.taken_by_corpus(shards, threshold, None),
                    "random": random_part.taken_by_corpus(shards, drawn, work / "random"),
                }
            ),
            "held_out": {
                corpus: held_out(config, corpus, languages, models, folder, work)
                for corpus in options.held_out
            },
        }
    options.output.write_text(json.dumps(found, indent=2) + "\n", encoding="utf-8")
    print(report(found))
    return 0


def shares(taken: dict[str, dict[str, Taken]]) -> dict[str, Any]:
    """Pairs and words of each corpus in all text and in both parts, and what share of these they are, in per cent."""
    found: dict[str, Any] = {}
    for unit in ("words", "pairs"):
        counts = {
            part: {corpus: getattr(of, unit) for corpus, of in corpora.items()}
            for part, corpora in taken.items()
        }
        found[f"{unit}_by_corpus"] = counts
        found[f"percent_of_{unit}"] = {
            part: {corpus: round(100 * number / sum(of.values()), 1) for corpus, number in of.items()}
            for part, of in counts.items()
        }
    return found


def training_shards(config: Config, data: Path) -> list[Shard]:
    """Every shard of the training corpora, in the order of the settings."""
    sides = (config.languages.source, config.languages.target)
    return [
        Shard(
            corpus,
            number,
            (
                data / f"tokens/{corpus}/{number}.{sides[0]}.zst",
                data / f"tokens/{corpus}/{number}.{sides[1]}.zst",
            ),
            data / f"selection/{corpus}/{number}.scores.npy",
        )
        for corpus in config.use.train
        for number in range(config.corpora[corpus].shards)
    ]


def selected(shards: list[Shard], folder: Path) -> list[tuple[Path, Path]]:
    """What the selection has taken, shard by shard."""
    place = folder / "data" / "selected"
    return [
        (place / shard.corpus / shard.sides[0].name, place / shard.corpus / shard.sides[1].name)
        for shard in shards
    ]


def train(
    texts: dict[str, list[tuple[Path, Path]]], order: int, options: argparse.Namespace, work: Path
) -> Any:
    """A language model of each part for each side."""
    models: dict[str, dict[str, Any]] = {"source": {}, "target": {}}
    for part in PARTS:
        for place, side in enumerate(models):
            output = work / f"{part}.{side}.binary"
            text = {str(pair[place]): [pair[place]] for pair in texts[part]}
            language_models.train(text, order, output, True, options.memory_mb, options.programs)
            models[side][part] = language_models.load(output)
    return models


def held_out(
    config: Config, corpus: str, languages: dict[str, str], models: Any, folder: Path, work: Path
) -> dict[str, Any]:
    """Perplexities of a corpus of the catalogue, taken from its archive."""
    entry = config.corpora[corpus]
    raw = {side: work / f"{corpus}.{side}.zst" for side in languages}
    ends = []
    for side in languages:
        source = getattr(entry, side)
        archive = folder / "data" / "archives" / config.archives[source.archive].path
        ends.append(Side(archive, source.member, [raw[side]]))
    extract(ends[0], ends[1], work / f"{corpus}.counts.json")
    found = {}
    for side, language in languages.items():
        tokens = work / f"{corpus}.{side}.tokens.zst"
        tokenize_file(raw[side], tokens, language, config.tokenization)
        sums = compare(models[side], read_lines(tokens))
        found[language] = {
            "words": sums.words,
            "compared": sums.known,
            "perplexity": sums.perplexities(),
            "unknown": sums.unknown_rates(),
        }
    return found


def report(found: dict[str, Any]) -> str:
    """The figures as text."""
    rows = [
        [corpus, language, *(f"{value['perplexity'][part]:.1f}" for part in PARTS)]
        + [f"{value['perplexity']['selected'] / value['perplexity']['random'] - 1:+.1%}"]
        + [f"{value['unknown'][part]:.2%}" for part in PARTS]
        for corpus, languages in found["held_out"].items()
        for language, value in languages.items()
    ]
    headers = ["held out", "", "selected", "random", "difference", "unknown, selected", "unknown, random"]
    tables = [tabulate(rows, headers, disable_numparse=True)]
    for unit in ("words", "pairs"):
        percent, counts = found[f"percent_of_{unit}"], found[f"{unit}_by_corpus"]
        lines = [
            [
                corpus,
                *(f"{percent[part][corpus]:.1f}%" for part in ("all", *PARTS)),
                f"{counts['selected'][corpus] / max(1, every):.1%}",
            ]
            for corpus, every in counts["all"].items()
        ]
        heads = [f"share of {unit}", "all", *PARTS, "of it selected"]
        tables.append(tabulate(lines, heads, disable_numparse=True))
    return "\n\n".join(tables)


def parse() -> argparse.Namespace:
    """Options."""
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.selection",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    held = ["newstest2009", "newstest2010", "newstest2011"]
    parser.add_argument("--folder", type=Path, default=ROOT, help="the experiment (the paper's run)")
    parser.add_argument("--held-out", nargs="+", default=held, help="corpora of the catalogue (%(default)s)")
    parser.add_argument("--seed", type=int, default=1, help="of the random part (%(default)s)")
    parser.add_argument("--memory-mb", type=int, default=4000, help="for lmplz (%(default)s)")
    parser.add_argument(
        "--programs", type=Path, default=ROOT / ".kenlm", help="folder of lmplz (%(default)s)"
    )
    output = ROOT / "benchmarks" / "results" / "selection.json"
    parser.add_argument("--output", type=Path, default=output, help="(%(default)s)")
    return parser.parse_args()


if __name__ == "__main__":
    sys.exit(main())
