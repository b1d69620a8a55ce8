"""How tables are written: CSV that programs read, Markdown in columns, LaTeX that is text."""

import html
import re

import pandas as pd
from markdown_it import MarkdownIt

from pipeline.results.tables.writer import (
    Table,
    escape_markup,
    make_frame,
    make_pipe_table,
    render_formats,
)

ROWS = [{"model": "a_b, 50% & {c}", "count": 1234567, "share": "0.50"}, {"model": "été", "count": None}]


def render_odd_table() -> dict[str, str]:
    """The forms of a table with text that LaTeX or Markdown could take for commands, and a missing number."""
    cells = [["a_b, 50% & {c}", "1,234,567 ± 3", "x | *y*"], ["ab", "", "−1 × 10⁵"]]
    table = Table(
        make_frame(ROWS, ["model", "count", "share"]),
        pd.DataFrame(cells, columns=["Model", "Count", "Text"]),
        ("Model", "Text"),
        group_starts=[1],
        notes=["A note of ±: " + "many words " * 20],
    )
    return render_formats(table)


def test_csv_form() -> None:
    # a whole number beside a gap stays whole
    text = 'model,count,share\n"a_b, 50% & {c}",1234567,0.50\nété,,\n'
    assert render_odd_table()["csv"] == text


def test_markdown_form() -> None:
    table, note = render_odd_table()["md"].split("\n\n")
    lines = table.split("\n")
    assert len({len(line) for line in lines}) == 1 and len(lines) == 4
    assert lines[1].replace("-", "") == "|:|:|:|" and lines[1].startswith("|:") and lines[1].endswith("-|")
    assert lines[1].split("|")[2].endswith("-:"), "numbers are aligned to the right"
    assert r"x \| \*y\*" in lines[2]
    assert note.startswith("A note of ±: many words") and max(map(len, note.split("\n"))) <= 100


def test_escape_markup() -> None:
    for plain in ("RNNsearch-50*", "[UNK] may be written.", "a_b 5 * 3", "1 & 2", "l’homme"):
        assert escape_markup(plain) == plain
    hostile = [
        "![px](http://x/y.png)",
        "[a](http://x)",
        "<img src=x>",
        "`x`",
        "**x**",
        "&lt;",
        "~~x~~",
        r"\*",
    ]
    for text in hostile:
        rendered = MarkdownIt("commonmark").render(escape_markup(text))
        assert "<p>" + html.escape(text, quote=False) + "</p>\n" == rendered


def test_pipe_table_escapes_cells() -> None:
    shown = pd.DataFrame([["A|B\n| C", "1"], ["a\\|b", "2"]], columns=["Model|s", "All"])
    page = MarkdownIt("commonmark").enable("table").render(make_pipe_table(shown, ["Model|s"]))
    assert re.findall(r"<t[hd][^>]*>(.*)</t[hd]>", page) == ["Model|s", "All", "A|B | C", "1", r"a\|b", "2"]
