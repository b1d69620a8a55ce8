"""Translations and n-best lists by Moses' decoder."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from nmt.errors import UserError
from nmt.io.files import temporary_folder
from nmt.io.text_files import read_lines, write_lines
from pipeline.phrase_based.configuration import System, format_configuration
from pipeline.phrase_based.programs import Moses, run_logged


@dataclass(frozen=True)
class NBest:
    """Lists of different translations in Moses' own format (gzip).

    n_best_factor: hypotheses that the search considers for each entry.
    """

    output: Path
    n_best: int
    n_best_factor: int


def translate_file(
    moses: Moses,
    system: System,
    weights: Path,
    source: Path,
    output: Path,
    log: Path,
    threads: int,
    lists: NBest | None = None,
) -> int:
    """Translate tokens, and write n-best lists, numbered from 0, if wanted.

    Args:
        moses: programs and scripts.
        system: tables, language model and search; the tables are filtered for this text first, so that memory grows
            with it alone.
        weights: of the features, from tuning.
        source: token file of any compression.
        output: gets a translation per line.
        log: gets what the programs say.
        threads: of the decoder.
        lists: those to write.

    Returns:
        Number of sentences.
    """
    sentences = [" ".join(line.split()) for line in read_lines(source)]
    with temporary_folder(output.parent, f".{output.name}.work-") as work:
        given, translated, n_best = (work.absolute() / name for name in ("text", "translated", "lists"))
        given.write_text("".join(f"{sentence}\n" for sentence in sentences), encoding="utf-8")
        whole = format_configuration(system, weights.read_text(encoding="utf-8"))
        (work / "moses.ini").write_text(whole, encoding="utf-8")
        script = moses.script("training/filter-model-given-input.pl")
        run_logged(["perl", script, "filtered", "moses.ini", "text"], log, "filtering failed", work)
        command = [moses.program("moses"), "-f", str(work.absolute() / "filtered/moses.ini")]
        command += ["-threads", str(threads), "-v", "0", *system.search]
        if lists:
            command += ["-n-best-list", str(n_best), str(lists.n_best), "distinct"]
            command += ["-n-best-factor", str(lists.n_best_factor)]
        run_logged(command, log, "decoding failed", work, given, translated)
        found = [line.rstrip(" ") for line in read_lines(translated)]
        if len(found) != len(sentences):
            raise UserError(f"Moses wrote {len(found):,} of {len(sentences):,} translations; run it again")
        if lists:
            with write_lines(lists.output) as hypotheses:
                for line in read_lines(n_best):
                    hypotheses.write(line)
        with write_lines(output) as lines:
            for line in found:
                lines.write(line)
    return len(sentences)
