"""Measure the data pipeline, from archives to binary text: `make bench-data`.

Usage: python -m benchmarks.data --archives FOLDER [--sizes N [N ...]] [--cores N] [--rounds N] [--lines N]

FOLDER is laid out as data/archives of the paper's run: it holds wmt13/training-parallel-europarl-v7.tgz and
wmt14/{dev,test-full}.tgz. The real workflow runs over Europarl, and over copies of it with new words, N times as long.
The figures are printed, and written to benchmarks/results/data.json.
"""

from __future__ import annotations

import argparse
import json
import shlex
import shutil
import sys
import tempfile
from pathlib import Path
from typing import Any

from benchmarks.data import estimate, grown, report, tokenizers, workflow
from benchmarks.findings import FOLDER, RESULTS, ROOT, hardware, make_parser, write

ARCHIVE = Path("wmt13", "training-parallel-europarl-v7.tgz")
MEMBERS = {language: f"training/europarl-v7.fr-en.{language}" for language in ("en", "fr")}
NEEDED = (ARCHIVE, Path("wmt14", "dev.tgz"), Path("wmt14", "test-full.tgz"))
LINES_PER_SHARD = 400_000
"""Shards of WMT'14 have about so many lines."""
CORES = (2, 16)
"""The hours that WMT'14 takes are estimated for these numbers of cores."""


def main() -> int:
    """Measure every size. Return 1 if an archive is missing or a run failed, else 0."""
    options = parse()
    missing = [str(options.archives / path) for path in NEEDED if not (options.archives / path).is_file()]
    if missing:
        print(f"error: not there: {', '.join(missing)}; say where with --archives", file=sys.stderr)
        return 1
    texts = {language: grown.read(options.archives / ARCHIVE, member) for language, member in MEMBERS.items()}
    perl = tokenizers.tokenizer_perl(FOLDER / ".moses", shlex.split(options.pip_options))
    found: dict[str, Any] = {
        "machine": hardware() | {"cores": options.cores},
        "tokenizers": {
            language: tokenizers.measure(text.lines[: options.lines], language, options.rounds, perl)
            for language, text in texts.items()
        },
        "sizes": sizes_of(options.output),
    }
    try:
        workflow.build_kenlm()
        for times in options.sizes:
            print(f"Europarl x {times} ...", file=sys.stderr, flush=True)
            found["sizes"][str(times)] = run(options, texts, times)
            write(options.output, found)
    except workflow.Failed as failure:
        print(f"error: {failure}", file=sys.stderr)
        return 1
    print(report.table(found))
    return 0


def run(options: argparse.Namespace, texts: dict[str, grown.Text], times: int) -> dict[str, Any]:
    """Return the figures of one size. Its files are removed afterwards."""
    folder = Path(tempfile.mkdtemp(dir=options.folder, prefix="bench-data-"))
    try:
        mirrors = [options.archives]
        if times > 1:
            grown.write(
                folder / "grown" / ARCHIVE, [(MEMBERS[side], text) for side, text in texts.items()], times
            )
            mirrors.insert(0, folder / "grown")
        pairs = times * len(texts["en"].lines)
        shards = max(1, round(pairs / LINES_PER_SHARD))
        settings = workflow.overlay(mirrors, shards, target_words=times * texts["fr"].words // 2)
        measured = workflow.run(folder / "run", settings, options.cores)
        raw = times * sum(len(line.encode()) + 1 for text in texts.values() for line in text.lines)
        estimates = [estimate.estimate(measured, pairs, cores) for cores in CORES]
        found = report.figures(folder / "run" / "data", measured, pairs, raw)
        return found | {
            "shards": shards,
            "types": {side: grown.types(text, times) for side, text in texts.items()},
            "wmt14_hours": {str(found.cores): {**found.hours, "all": found.total} for found in estimates},
            "wmt14_disk_gb": estimate.disk(measured, pairs),
        }
    finally:
        shutil.rmtree(folder)


def sizes_of(output: Path) -> dict[str, Any]:
    """Return what earlier runs measured. The figures of a size stay until it is measured again."""
    return dict(json.loads(output.read_text(encoding="utf-8"))["sizes"]) if output.is_file() else {}


def parse() -> argparse.Namespace:
    """Read the options."""
    parser = make_parser("benchmarks.data", __doc__)
    parser.add_argument("--archives", type=Path, default=ROOT / "data" / "archives", help="(%(default)s)")
    parser.add_argument("--sizes", type=int, nargs="+", default=[1, 4, 16], help="(%(default)s)")
    parser.add_argument("--cores", type=int, default=2, help="for the workflow (%(default)s)")
    parser.add_argument("--rounds", type=int, default=5, help="for the tokenizers (%(default)s)")
    parser.add_argument(
        "--lines", type=int, default=100_000, help="per side for the tokenizers (%(default)s)"
    )
    parser.add_argument("--folder", type=Path, help="where runs may write; 16 x takes 35 GB (the system's)")
    parser.add_argument("--pip-options", default="", help="for the package with tokenizer.perl")
    parser.add_argument("--output", type=Path, default=RESULTS / "data.json", help="(%(default)s)")
    return parser.parse_args()


if __name__ == "__main__":
    sys.exit(main())
