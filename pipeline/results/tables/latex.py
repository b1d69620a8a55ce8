"""Tables as LaTeX: a bare tabular for `\\input`, and a document with several tables."""

import re
import unicodedata
from collections.abc import Mapping, Sequence

import pandas as pd

_GLYPHS = str.maketrans(
    {
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


def make_tabular(
    cells: pd.DataFrame, column_types: str, group_starts: Sequence[int], notes: Sequence[str]
) -> str:
    """Return a tabular with booktabs' rules, after comments with the notes.

    Args:
        cells: the table, all of it text.
        column_types: LaTeX's column specification, such as `lrr`.
        group_starts: indices of rows with a horizontal line above them.
        notes: plain text.
    """
    style = cells.style.hide(axis="index").format(_replace_glyphs, escape="latex")
    style = style.format_index(_replace_glyphs, escape="latex", axis=1)
    lines = style.to_latex(column_format=column_types, hrules=True).splitlines()

    # horizontal lines are inserted from the bottom up, since each moves the rows below it
    first_row = lines.index(r"\midrule") + 1
    for row in sorted(group_starts, reverse=True):
        lines.insert(first_row + row, r"\midrule")
    comments = [f"% {_escape_latex(note)}" for note in notes]
    return "\n".join([_HEAD_COMMENT, *comments, *lines, ""])


def _escape_latex(text: str) -> str:
    """Return text in which LaTeX finds no commands: pandas escapes it as the header of an empty table."""
    style = pd.DataFrame(columns=[text]).style.format_index(_replace_glyphs, escape="latex", axis=1)
    lines = style.hide(axis="index").to_latex(column_format="l").splitlines()
    return str(lines[1]).removesuffix(r" \\")  # lines[0] is \begin{tabular}{l}


def _replace_glyphs(text: str) -> str:
    """Return text that T1 fonts can show: other glyphs become commands or code points, such as [U+0430]."""
    glyphs = unicodedata.normalize("NFC", text).translate(_GLYPHS)
    glyphs = _NOT_IN_T1.sub(_format_code_point, glyphs)
    # A row that begins with [ would be read as the optional argument of the \\ before it.
    return f"{{{glyphs}}}" if glyphs.startswith("[") else glyphs


def _format_code_point(character: re.Match[str]) -> str:
    return rf"{{\scriptsize[U+{ord(character[0]):04X}]}}\allowbreak{{}}"


def make_document(tables: Mapping[str, str]) -> str:
    """Return a LaTeX document with each table on a page, reduced in size if it would not fit.

    tables: results of `make_tabular`, by the stems of their files, which are in the document's folder.
    """
    pages = []
    for stem, text in tables.items():
        lines = [
            r"\begin{adjustbox}{max width=\linewidth,max totalheight=0.7\textheight}",
            rf"\input{{{stem}}}",
            r"\end{adjustbox}",
            "",
            r"\medskip",
            r"{\footnotesize\raggedright",
        ]
        for line in text.splitlines():
            if line.startswith("% "):  # a note
                lines.append(line.removeprefix("% ") + r"\par")
        lines.append("}")
        pages.append("\n".join(lines))
    return _DOCUMENT + "\n\\clearpage\n".join(pages) + "\n\\end{document}\n"
