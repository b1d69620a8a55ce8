"""Tuning by minimum error rate training (Och, 2003) or batch MIRA (Cherry and Foster, 2012) with Moses' script."""

from pathlib import Path
from typing import Literal

from nmt.io.files import temporary_folder, write_text
from pipeline.moses.configuration import System, format_configuration, make_initial_weights, read_weights
from pipeline.moses.programs import Moses, run_logged
from pipeline.preparation import SideFiles


def tune_weights(
    moses: Moses,
    system: System,
    text: SideFiles,
    output: Path,
    log: Path,
    tuner: Literal["mert", "mira"],
    tuning_rounds: int,
    tuning_n_best: int,
    threads: int,
) -> None:
    """Choose the weights of the features that translate the development text best.

    Args:
        moses: programs and scripts.
        system: tables, language model and search.
        text: plain tokens of the development text, source and reference.
        output: the file of weights that is written, a feature per line.
        log: the file to which the programs' messages are added.
        tuner: optimizer.
        tuning_rounds: limit for rounds of decoding and optimizing; both tuners may end earlier.
        tuning_n_best: hypotheses per sentence and round.
        threads: the threads of decoder and optimizer.
    """
    with temporary_folder(output.parent, f".{output.name}.work-") as relative_folder:
        work_folder = relative_folder.absolute()
        # 1. the system with its initial weights
        initial_configuration = work_folder / "moses.ini"
        initial_configuration.write_text(
            format_configuration(system, make_initial_weights(system)), encoding="utf-8"
        )

        # 2. the script, which decodes the development text and optimizes the weights in turn
        source, reference = (str(side.absolute()) for side in text)
        tuning_folder = work_folder / "mert"
        command = ["perl", moses.script("training/mert-moses.pl")]
        command += [source, reference, moses.program("moses"), str(initial_configuration)]
        command += ["--mertdir", str(Path(moses.program("mert")).parent), "--working-dir", str(tuning_folder)]
        decoder_options = ["-threads", str(threads), "-v", "0"]
        decoder_options += system.search_options
        command += ["--decoder-flags", " ".join(decoder_options)]
        command += ["--predictable-seeds", "--nbest", str(tuning_n_best)]
        command += ["--maximum-iterations", str(tuning_rounds), "--threads", str(threads)]
        if tuner == "mira":
            command += ["--batch-mira", "--return-best-dev"]
        run_logged(command, log, problem="tuning failed", folder=work_folder)
        write_text(output, read_weights(tuning_folder / "moses.ini"))
