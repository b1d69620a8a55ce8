"""LaTeX of tables: text of any kind is text."""

from pipeline.results.tables.latex import RUNNING_TEXT, render_latex
from pipeline.results.tables.table import Table
from tests.latex import assert_compiles


def cell(text: str) -> str:
    """What a tabular of one cell holds."""
    tabular = render_latex(Table([], ["Text"], [[text]]))
    return tabular.split("\\midrule\n")[1].split(" \\\\")[0]


def test_latex_commands_are_escaped() -> None:
    assert cell("50% & a_b #1 $ {}") == r"50\% \& a\_b \#1 \$ \{\}"
    assert cell("~^\\") == r"\textasciitilde{}\textasciicircum{}\textbackslash{}"
    assert cell("a|b <c>") == r"a\textbar{}b \textless{}c\textgreater{}"


def test_missing_glyphs_are_replaced() -> None:
    assert (
        cell("5′ H₂O m² 1\u202f000\u200b\u2009x") == r"5$^{\prime}$ H$_{2}$O m$^{2}$ 1\,000\allowbreak{}\,x"
    )
    assert cell("e\u0301 œ “–” ≤ −1") == r"é œ “–” $\leq$ $-$1"
    assert cell("да\ufffd") == "".join(
        rf"{{\scriptsize[U+{code}]}}\allowbreak{{}}" for code in ("0434", "0430", "FFFD")
    )
    assert cell("two\nlines") == "two lines"


def test_row_beginning_with_bracket() -> None:
    # LaTeX reads [ behind \\ as how much space to leave
    assert cell("[UNK] b") == "{[UNK] b}"


def test_text_of_any_script_compiles() -> None:
    latin = [chr(code) for code in (*range(0x20, 0x7F), *range(0xA0, 0x250))]
    lines = [" ".join(latin[start : start + 40]) for start in range(0, len(latin), 40)]
    lines += [
        "5′ 6″ H₂O 10⁻³ \u200b\u202f\u2009\u00a0\ufeff\ufffd α Ω ‐‑–—―‘’‚“”„†‡•…‰‹›€™ ≤ → 😀 \u0301 \x07 \t"
    ]
    lines += ["Однажды " * 30, "東京" * 40, "ب" * 60]
    rows = [["[1]", line] for line in lines]
    table = Table([], ["Sentence", RUNNING_TEXT], rows, group_starts=[1], notes=lines)
    assert_compiles(table=table)
