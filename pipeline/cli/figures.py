"""The subcommand that draws sentence vectors by hand: the group `nmt figure`."""

from __future__ import annotations

from pathlib import Path

import click

from nmt.cli.options import figure_outputs, file_option


@click.command()
@file_option("--coordinates", "Sentences in the plane, written by `nmt vectors --output-tsv`.")
@figure_outputs
def sentence_vectors(coordinates: Path, output_pdf: Path, output_png: Path) -> None:
    """Draw sentences in the plane in which their vectors differ most (Sutskever et al., 2014, Figure 2)."""
    from nmt.evaluation.principal_components import read_panels
    from nmt.plots.style import save
    from pipeline.results.figures.sentence_vectors import sentence_vectors as draw

    save(draw(read_panels(coordinates)), output_pdf, output_png)
