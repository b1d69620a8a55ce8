"""The table of the report that says whether each model's attention has learned where to look."""

from __future__ import annotations

from nmt.evaluation.attention import ATTENTION_HEADERS, format_attention
from nmt.evaluation.translations import read_provenance
from pipeline.config.runs import SEED_SUFFIX
from pipeline.results.inputs import Inputs
from pipeline.results.tables.writer import Table, make_frame


def make_attention_table(inputs: Inputs) -> Table | None:
    """Return a row for each system with attention, or None if no system has any. Values are of the test set."""
    headers = [header.capitalize() for header in ATTENTION_HEADERS.values()]
    rows = []
    for name in inputs.systems:
        statistics = read_provenance(inputs.package.translations("test", name, "all")).get("attention")
        if statistics:
            model = SEED_SUFFIX.sub("", name)
            # "rnnsearch-50.seed-2" -> ", seed 2"
            seed = name.removeprefix(model).replace(".seed-", ", seed ")
            cells = dict(zip(headers, format_attention(statistics), strict=True))
            rows.append({"Model": inputs.settings.label(model) + seed, **cells})
    if not rows:
        return None
    frame = make_frame(rows)
    return Table(frame, frame)
