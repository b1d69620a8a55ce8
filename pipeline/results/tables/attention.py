"""The table of attention statistics in report.html, which show whether a model has learned where to look."""

from nmt.evaluation.attention import ATTENTION_HEADERS, format_attention
from nmt.evaluation.translations import read_provenance
from pipeline.config.runs import format_run_label
from pipeline.results.inputs import Inputs
from pipeline.results.tables.table import Table


def make_attention_table(inputs: Inputs) -> Table | None:
    """Return the table for the test set, with a row for each system with attention; None without such systems."""
    headers = [header.capitalize() for header in ATTENTION_HEADERS.values()]
    rows = []
    for name in inputs.systems:
        statistics = read_provenance(inputs.package.translations("test", name, "all")).get("attention")
        if statistics:
            rows.append([format_run_label(name, inputs.settings.labels), *format_attention(statistics)])
    return Table([], ["Model", *headers], rows) if rows else None
