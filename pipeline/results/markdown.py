"""Markdown of the results as HTML: it loads nothing, and its tables suit keyboards and screen readers."""

from __future__ import annotations

from markdown_it import MarkdownIt
from markdown_it.token import Token
from markupsafe import Markup, escape

from pipeline.results.tables.sentences import GROUPS_BEGIN


def rendered(markdown: str, name: str, level: int) -> Markup:
    """Return Markdown as HTML.

    Args:
        markdown: its title (#) is dropped, since `name` stands above it on the page.
        name: what a table is called unless a heading, or a line that ends in a colon, stands before it.
        level: of the heading `name`; those of the text stand below it.
    """
    parser = MarkdownIt("commonmark", {"html": False}).enable("table").disable(["image", "link", "autolink"])
    tokens = parser.parse(markdown)
    if tokens and tokens[0].tag == "h1":
        tokens = tokens[3:]  # it opens, its text, it ends
    found: list[Token] = []
    for place, token in enumerate(tokens):
        if token.type in ("heading_open", "heading_close"):
            token.tag = f"h{min(int(token.tag[1]) + level - 1, 6)}"
        if token.type in ("heading_open", "paragraph_open"):
            text = tokens[place + 1].content
            name = text.rstrip(":") if token.type == "heading_open" or text.endswith(":") else name
        if token.type == "table_open":
            found += [
                _html(f'<div class="wide" role="region" tabindex="0" aria-label="{escape(name)}">\n'),
                token,
                _html(f'<caption class="unseen">{escape(name)}</caption>\n'),
            ]
        elif token.type == "table_close":
            found += [token, _html("</div>\n")]
        else:
            found.append(token)
    _name_rows_and_columns(found)
    _part_groups(found)
    return Markup(parser.renderer.render(found, parser.options, {}))


def _html(text: str) -> Token:
    return Token("html_block", "", 0, content=text)


def _name_rows_and_columns(tokens: list[Token]) -> None:
    """Mark the cells of the head as names of columns, and the first cell of each row as its name."""
    first = False
    for token in tokens:
        if token.type == "th_open":
            token.attrSet("scope", "col")
        elif token.type == "tr_open":
            first = True
        elif token.type in ("td_open", "td_close") and first:
            token.tag = "th"
            if token.type == "td_open":
                token.attrSet("scope", "row")
            else:
                first = False


def _part_groups(tokens: list[Token]) -> None:
    """Give a class to each row, after the first, that begins a group of sentences."""
    rows = [place for place, token in enumerate(tokens) if token.type == "tr_open"]
    sources = [place for place in rows if tokens[place + 2].content == GROUPS_BEGIN]
    for place in sources[1:]:
        tokens[place].attrSet("class", "opens")
