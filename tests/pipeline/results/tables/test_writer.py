"""Text in Markdown without mark-up."""

import html
import re

from markdown_it import MarkdownIt

from pipeline.results.tables.writer import escape_markup, make_pipe_table


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
    table = make_pipe_table(["Model|s", "All"], [["A|B\n| C", "1"], ["a\\|b", "2"]], ["Model|s"])
    page = MarkdownIt("commonmark").enable("table").render(table)
    assert re.findall(r"<t[hd][^>]*>(.*)</t[hd]>", page) == ["Model|s", "All", "A|B | C", "1", r"a\|b", "2"]
