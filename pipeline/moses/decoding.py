"""Translations and n-best lists by Moses' decoder."""

from pathlib import Path

from nmt.errors import UserError
from nmt.io.files import temporary_folder
from nmt.io.text_files import read_lines, write_lines
from pipeline.moses.configuration import System, format_configuration
from pipeline.moses.programs import Moses, run_logged


def translate_file(
    moses: Moses,
    system: System,
    weights: Path,
    source: Path,
    output: Path,
    log: Path,
    threads: int,
    n_best_lists: Path | None = None,
    n_best: int = 0,
    n_best_factor: int = 0,
) -> None:
    """Translate a token file, and write n-best lists if they are requested.

    Args:
        moses: programs and scripts.
        system: tables, language model and search. The tables are first filtered for this text, so that the memory
            depends on the text and not on the tables.
        weights: the weights of the features, from tuning.
        source: token file of any compression.
        output: the file of translations, one per line.
        log: the file to which the programs' messages are added.
        threads: the decoder's threads.
        n_best_lists: the file of n-best lists (gzip), in Moses' own format with sentences from 0; None: no lists.
        n_best: hypotheses of a sentence in the lists, no two of which are equal.
        n_best_factor: hypotheses that the search considers for each hypothesis of a list.
    """
    sentences = [" ".join(line.split()) for line in read_lines(source)]
    with temporary_folder(output.parent, f".{output.name}.work-") as relative_folder:
        work_folder = relative_folder.absolute()
        (work_folder / "text").write_text(
            "".join(f"{sentence}\n" for sentence in sentences), encoding="utf-8"
        )
        configuration = format_configuration(system, weights.read_text(encoding="utf-8"))
        (work_folder / "moses.ini").write_text(configuration, encoding="utf-8")

        # filter the tables
        script = moses.script("training/filter-model-given-input.pl")
        command = ["perl", script, "filtered", "moses.ini", "text"]
        run_logged(command, log, problem="filtering failed", folder=work_folder)

        # translate
        command = [moses.program("moses"), "-f", str(work_folder / "filtered/moses.ini")]
        command += ["-threads", str(threads), "-v", "0"]
        command += system.search_options
        if n_best_lists:
            command += ["-n-best-list", str(work_folder / "lists"), str(n_best), "distinct"]
            command += ["-n-best-factor", str(n_best_factor)]
        run_logged(
            command,
            log,
            problem="decoding failed",
            folder=work_folder,
            source=work_folder / "text",
            output=work_folder / "translated",
        )

        # copy the translations and the lists; a decoder that broke off has written fewer lines
        translations = [line.rstrip(" ") for line in read_lines(work_folder / "translated")]
        if len(translations) != len(sentences):
            raise UserError(
                f"Moses wrote {len(translations):,} of {len(sentences):,} translations; run it again"
            )
        if n_best_lists:
            with write_lines(n_best_lists) as list_writer:
                for line in read_lines(work_folder / "lists"):
                    list_writer.write(line)
        with write_lines(output) as writer:
            for translation in translations:
                writer.write(translation)
