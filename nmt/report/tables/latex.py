"""Text as LaTeX sets it: commands disarmed, and a visible stand-in for what pdflatex has no glyph for."""

from __future__ import annotations

import unicodedata

_SPECIALS = {
    "\\": r"\textbackslash{}",
    "&": r"\&",
    "%": r"\%",
    "$": r"\$",
    "#": r"\#",
    "_": r"\_",
    "{": r"\{",
    "}": r"\}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "|": r"\textbar{}",
    "<": r"\textless{}",
    ">": r"\textgreater{}",
    "°": r"$^{\circ}$",
    "×": r"$\times$",
    "±": r"$\pm$",
    "−": r"$-$",
    "Δ": r"$\Delta$",
    "′": r"$^{\prime}$",
    "″": r"$^{\prime\prime}$",
    "\t": " ",
    "\u00a0": "~",
    "\u00ad": r"\-",
    "\u2009": r"\,",
    "\u202f": r"\,",
    "\u200b": r"\allowbreak{}",
    "\ufeff": "",
}
_RAISED = dict(zip("⁰¹²³⁴⁵⁶⁷⁸⁹", "0123456789", strict=True))
_LOWERED = dict(zip("₀₁₂₃₄₅₆₇₈₉", "0123456789", strict=True))
_PUNCTUATION = "–—‘’‚“”„†‡•…‰‹›€™"
_NOT_IN_T1 = "ĦħĸĿŀŉŦŧſ"


def tex_escape(text: str) -> str:
    """Text in which LaTeX sees no commands and finds every glyph in its T1 fonts.

    Letters without a glyph there (Cyrillic, say) become their code points: [U+0430].
    """
    return "".join(map(_escaped, unicodedata.normalize("NFC", text)))


def _escaped(character: str) -> str:
    if character in _SPECIALS:
        return _SPECIALS[character]
    if character in _RAISED:
        return f"$^{{{_RAISED[character]}}}$"
    if character in _LOWERED:
        return f"$_{{{_LOWERED[character]}}}$"
    if _has_glyph(character):
        return character
    return rf"{{\scriptsize[U+{ord(character):04X}]}}\allowbreak{{}}"


def _has_glyph(character: str) -> bool:
    """Whether T1 fonts, with the symbols of every LaTeX since 2018, have it."""
    return (
        " " <= character <= "~"
        or ("¡" <= character <= "ſ" and character not in _NOT_IN_T1)
        or character in _PUNCTUATION
    )
