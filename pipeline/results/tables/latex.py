"""Tables as LaTeX: a bare tabular for `\\input`, and a document with several tables."""

from __future__ import annotations

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
        **{raised: f"$^{{{digit}}}$" for digit, raised in enumerate("⁰¹²³⁴⁵⁶⁷⁸⁹")},
        **{lowered: f"$_{{{digit}}}$" for digit, lowered in enumerate("₀₁₂₃₄₅₆₇₈₉")},
    }
)
_PUNCTUATION = "–—‘’‚“”„†‡•…‰‹›€™"
_NOT_IN_T1 = "ĦħĸĿŀŉŦŧſ"

_NEEDS = r"%% needs \usepackage{array,booktabs} and \usepackage[T1]{fontenc}; below: notes for the caption"
_DOCUMENT = r"""\documentclass{article}
\usepackage[a4paper,landscape,margin=15mm]{geometry}
\usepackage[T1]{fontenc}
\usepackage[utf8]{inputenc}
\usepackage{adjustbox,array,booktabs}
\pagestyle{empty}
\setlength{\parindent}{0pt}
\begin{document}
"""


def tabular(shown: pd.DataFrame, columns: str, rules: Sequence[int], notes: Sequence[str]) -> str:
    """Return a tabular with booktabs' rules, notes before it as comments that LaTeX could set.

    Args:
        shown: the cells, all text.
        columns: LaTeX's column specification.
        rules: rows with a rule above them.
        notes: plain text.
    """
    style = shown.style.hide(axis="index").format(_with_glyphs, escape="latex")
    style = style.format_index(_with_glyphs, escape="latex", axis=1)
    lines = style.to_latex(column_format=columns, hrules=True).splitlines()
    first = lines.index(r"\midrule") + 1
    for row in sorted(rules, reverse=True):
        lines.insert(first + row, r"\midrule")
    return "\n".join([_NEEDS, *(f"% {_as_tex(note)}" for note in notes), *lines, ""])


def _as_tex(text: str) -> str:
    """Return text in which LaTeX sees no commands."""
    empty = pd.DataFrame(columns=[text]).style.format_index(_with_glyphs, escape="latex", axis=1)
    return str(empty.hide(axis="index").to_latex(column_format="l").splitlines()[1].removesuffix(r" \\"))


def _with_glyphs(text: str) -> str:
    """Return text with every glyph in LaTeX's T1 fonts; others become their code points: [U+0430]."""
    found = "".join(map(_glyph, unicodedata.normalize("NFC", text)))
    # a row that began with [ would be read as the optional argument of the \\ before it
    return f"{{{found}}}" if found.startswith("[") else found


def _glyph(character: str) -> str:
    shown = character.translate(_GLYPHS)
    if shown != character or _in_t1(character):
        return shown
    return rf"{{\scriptsize[U+{ord(character):04X}]}}\allowbreak{{}}"


def _in_t1(character: str) -> bool:
    """Return whether T1 fonts, with the symbols of every LaTeX since 2018, have it."""
    return (
        " " <= character <= "~"
        or ("¡" <= character <= "ſ" and character not in _NOT_IN_T1)
        or character in _PUNCTUATION
    )


def document(tables: Mapping[str, str]) -> str:
    """Return a LaTeX document for the folder of some tables: each on a page, made smaller where it would not fit.

    tables: what `tabular` gave, by the stems of the files.
    """
    pages = []
    for stem, text in tables.items():
        notes = [line.removeprefix("% ") + r"\par" for line in text.splitlines() if line.startswith("% ")]
        size = r"max width=\linewidth,max totalheight=0.7\textheight"
        page = [rf"\begin{{adjustbox}}{{{size}}}", rf"\input{{{stem}}}", r"\end{adjustbox}"]
        pages.append("\n".join([*page, "", r"\medskip", r"{\footnotesize\raggedright", *notes, "}"]))
    return _DOCUMENT + "\n\\clearpage\n".join(pages) + "\n\\end{document}\n"
