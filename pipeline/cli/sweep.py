"""Subcommands of the sweep over decoding settings: sweep, decoding-sweep."""

from __future__ import annotations

from pathlib import Path

import click

from nmt.cli.options import PATH, figure_outputs, file_option, parse_settings, settings_option
from nmt.settings.decoding import Decoding
from pipeline.cli.options import report_settings, table_outputs
from pipeline.config.artifacts import Report
from pipeline.config.catalogue import SweepRun


@click.command()
@file_option("--model", "Folder that `nmt train` wrote.", metavar="FOLDER")
@file_option("--source", "Tokenized text, one sentence per line.")
@file_option("--reference", "Its tokenized translation.")
@settings_option("The config's `sweep` (but for its models) and what else `decoding` says")
@file_option("--output", "The scores as JSON.")
def sweep(model: Path, source: Path, reference: Path, settings: str, output: Path) -> None:
    """Translate a tokenized test set under every combination of decoding settings, and score each.

    BLEU as `evaluate` computes it on all lines, lengths, how many translations did not end, mean log-probability
    and seconds. Killed, the same command resumes where it stopped.
    """
    wanted = parse_settings(SweepRun, settings)
    from nmt.model import trained_model
    from nmt.model.device import choose_device, keep_freed_memory, make_deterministic
    from pipeline.report.sweep import sweep_file

    make_deterministic(wanted.threads)
    keep_freed_memory()
    trained = trained_model.load(model, choose_device(wanted.device))
    found = sweep_file(trained, source, reference, wanted, output)
    click.echo(
        f"{output}: {found['sentences']:,} sentences under {len(found['scores']):,} settings", err=True
    )


@click.command()
@click.option(
    "--sweep",
    type=(str, PATH),
    required=True,
    multiple=True,
    metavar="MODEL FILE",
    help="A model's id and its scores, from `sweep`. Repeat it, in the order of the rows.",
)
@click.option(
    "--decoding",
    required=True,
    metavar="JSON|FILE",
    help="The config's `decoding`, which is marked, as JSON or the path of a JSON file.",
)
@report_settings
@table_outputs
@figure_outputs
@file_option("--output-sums", "Their SHA-256, which `verify` reads.")
def decoding_sweep(
    sweep: tuple[tuple[str, Path], ...],
    decoding: str,
    settings: str,
    output_csv: Path,
    output_md: Path,
    output_tex: Path,
    output_pdf: Path,
    output_png: Path,
    output_sums: Path,
) -> None:
    """Write table and figure of a sweep over decoding settings: BLEU against the beam's width, for each combination.

    The CSV has a row for each width; the others show the best one of each combination.
    """
    from nmt.io import checksums
    from nmt.plots import style
    from pipeline.report.figures.decoding_sweep import sweep_figure
    from pipeline.report.tables.decoding_sweep import read_sweeps, sweep_table
    from pipeline.report.tables.writer import write_table

    wanted, configured = parse_settings(Report, settings), parse_settings(Decoding, decoding, "--decoding")
    sweeps = read_sweeps(sweep)
    write_table(sweep_table(sweeps, configured, wanted), output_csv, output_md, output_tex)
    style.save(sweep_figure(sweeps, configured, wanted), output_pdf, output_png)
    checksums.write(output_sums, (output_csv, output_md, output_tex, output_pdf, output_png))
