"""Which pairs are left out before tokenisation, and why.

A pair that goes becomes an empty line on both sides, so that line numbers stay in step with the raw text.
"""

from __future__ import annotations

from pathlib import Path

from nmt.files import write_json
from nmt.progress import Progress
from nmt.settings import Cleaning
from nmt.text import read_pairs, write_lines

REASONS = ("empty", "too_long", "ratio")


def reason_to_drop(source: str, target: str, settings: Cleaning) -> str | None:
    """Why a pair goes, one of `REASONS`, or None when it stays. Words are what white space separates."""
    words = len(source.split()), len(target.split())
    if not all(words):
        return "empty"
    if settings.max_words is not None and max(words) > settings.max_words:
        return "too_long"
    if settings.max_ratio is not None and max(words) > settings.max_ratio * min(words):
        return "ratio"
    return None


def clean(
    source: Path, target: Path, settings: Cleaning, output_source: Path, output_target: Path, counts: Path
) -> dict[str, int]:
    """Write the cleaned pair of files and `counts`.

    Counted are pairs, kept ones and how many went for each reason, and the words of the kept ones, a side each.
    """
    found = dict.fromkeys(("pairs", "kept", *REASONS, "kept_source_words", "kept_target_words"), 0)
    with (
        Progress.over_files([source, target], f"clean {source}") as progress,
        write_lines(output_source) as sources,
        write_lines(output_target) as targets,
    ):
        for source_line, target_line in read_pairs(source, target, progress):
            reason = reason_to_drop(source_line, target_line, settings)
            found["pairs"] += 1
            found[reason or "kept"] += 1
            found["kept_source_words"] += 0 if reason else len(source_line.split())
            found["kept_target_words"] += 0 if reason else len(target_line.split())
            sources.write("" if reason else source_line)
            targets.write("" if reason else target_line)
    write_json(counts, found)
    return found
