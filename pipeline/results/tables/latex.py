"""Tables as LaTeX: a bare tabular for `\\input`, and a document with several tables."""

import re
import unicodedata
from collections.abc import Mapping, Sequence

from pipeline.results.tables.table import Table

RUNNING_TEXT = "Text"
"""Header of a column of running text, which LaTeX breaks into lines."""
_GLYPHS = str.maketrans(
    {
        **{character: rf"\{character}" for character in "&%$#_{}"},
        "\\": r"\textbackslash{}",
        "~": r"\textasciitilde{}",
        "^": r"\textasciicircum{}",
        "°": r"$^{\circ}$",
        "×": r"$\times$",
        "±": r"$\pm$",
        "−": r"$-$",
        "≤": r"$\leq$",
        "Δ": r"$\Delta$",
        "′": r"$^{\prime}$",
        "″": r"$^{\prime\prime}$",
        "|": r"\textbar{}",
        "<": r"\textless{}",
        ">": r"\textgreater{}",
        **dict.fromkeys("\t\n\r", " "),
        "\u00a0": "~",
        "\u00ad": r"\-",
        "\u2009": r"\,",
        "\u202f": r"\,",
        "\u200b": r"\allowbreak{}",
        "\ufeff": "",
        **{superscript: f"$^{{{digit}}}$" for digit, superscript in enumerate("⁰¹²³⁴⁵⁶⁷⁸⁹")},
        **{subscript: f"$_{{{digit}}}$" for digit, subscript in enumerate("₀₁₂₃₄₅₆₇₈₉")},
    }
)
_NOT_IN_T1 = re.compile("[^ -~¡-ſ–—‘’‚“”„†‡•…‰‹›€™]|[ĦħĸĿŀŉŦŧſ]")
"""Characters that neither T1 fonts nor the symbols of every LaTeX since 2018 have: all others, and nine of ¡-ſ."""

_HEAD_COMMENT = (
    r"%% needs \usepackage{array,booktabs} and \usepackage[T1]{fontenc}; below: notes for the caption"
)
_DOCUMENT = r"""\documentclass{article}
\usepackage[a4paper,landscape,margin=15mm]{geometry}
\usepackage[T1]{fontenc}
\usepackage[utf8]{inputenc}
\usepackage{adjustbox,array,booktabs}
\pagestyle{empty}
\setlength{\parindent}{0pt}
\begin{document}
"""


def render_latex(table: Table) -> str:
    """Return the table as a LaTeX tabular with booktabs' rules, after comments with the notes."""
    # 1. the types of the columns, such as lrr
    column_types = ""
    for header in table.headers:
        if header == RUNNING_TEXT:
            column_types += r">{\raggedright\arraybackslash}p{12cm}"
        else:
            column_types += "l" if header in table.text_columns else "r"

    # 2. the lines; a horizontal line begins each group of rows
    lines = [_HEAD_COMMENT, *(f"% {_escape_latex(note)}" for note in table.notes)]
    lines += [rf"\begin{{tabular}}{{{column_types}}}", r"\toprule", _join_cells(table.headers), r"\midrule"]
    for index, row in enumerate(table.rows):
        if index in table.group_starts:
            lines.append(r"\midrule")
        lines.append(_join_cells(row))
    lines += [r"\bottomrule", r"\end{tabular}"]
    return "\n".join(lines) + "\n"


def _join_cells(cells: Sequence[str]) -> str:
    """Return a row of a tabular."""
    return " & ".join(map(_escape_latex, cells)) + r" \\"


def _escape_latex(text: str) -> str:
    """Return text in which LaTeX finds no commands. Glyphs that T1 fonts lack become code points, such as [U+0430]."""
    glyphs = unicodedata.normalize("NFC", text).translate(_GLYPHS)
    escaped_text = _NOT_IN_T1.sub(_format_code_point, glyphs)
    # A row that begins with [ would be read as the optional argument of the \\ before it.
    return f"{{{escaped_text}}}" if escaped_text.startswith("[") else escaped_text


def _format_code_point(character: re.Match[str]) -> str:
    return rf"{{\scriptsize[U+{ord(character[0]):04X}]}}\allowbreak{{}}"


def make_document(tables: Mapping[str, Table]) -> str:
    """Return a LaTeX document with each table on a page, reduced in size if it would not fit.

    tables: the tables by the stems of their files, which are in the document's folder.
    """
    pages = []
    for stem, table in tables.items():
        lines = [
            r"\begin{adjustbox}{max width=\linewidth,max totalheight=0.7\textheight}",
            rf"\input{{{stem}}}",
            r"\end{adjustbox}",
            "",
            r"\medskip",
            r"{\footnotesize\raggedright",
            *(_escape_latex(note) + r"\par" for note in table.notes),
            "}",
        ]
        pages.append("\n".join(lines))
    return _DOCUMENT + "\n\\clearpage\n".join(pages) + "\n\\end{document}\n"
