"""LaTeX of tables: text of any kind is text, and the document of some tables compiles."""

from __future__ import annotations

from pathlib import Path

import pandas as pd

from pipeline.results.tables.latex import make_document, make_tabular
from tests.latex import assert_compiles


def cell(text: str) -> str:
    """What a tabular of one cell holds."""
    return (
        make_tabular(pd.DataFrame([[text]], columns=["Text"]), "l", [], [])
        .split("\\midrule\n")[1]
        .split(" \\\\")[0]
    )


def test_latex_commands_are_escaped() -> None:
    assert cell("50% & a_b #1 $ {}") == r"50\% \& a\_b \#1 \$ \{\}"
    assert cell("~^\\") == r"\textasciitilde \textasciicircum \textbackslash "
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


def test_text_of_any_script_compiles(tmp_path: Path) -> None:
    latin = [chr(code) for code in (*range(0x20, 0x7F), *range(0xA0, 0x250))]
    lines = [" ".join(latin[start : start + 40]) for start in range(0, len(latin), 40)]
    lines += [
        "5′ 6″ H₂O 10⁻³ \u200b\u202f\u2009\u00a0\ufeff\ufffd α Ω ‐‑–—―‘’‚“”„†‡•…‰‹›€™ ≤ → 😀 \u0301 \x07 \t"
    ]
    lines += ["Однажды " * 30, "東京" * 40, "ب" * 60]
    shown = pd.DataFrame([["[1]", line] for line in lines], columns=["Sentence", "Text"])
    table = tmp_path / "table.tex"
    table.write_text(make_tabular(shown, "lp{12cm}", [1], lines), encoding="utf-8")
    assert_compiles(table)


def test_document_has_a_page_per_table(tmp_path: Path) -> None:
    wide = pd.DataFrame([["word " * 8] * 9] * 60, columns=list("abcdefghi"))
    for name, shown in (("small", wide.iloc[:1, :2]), ("large", wide)):
        text = make_tabular(shown, "l" * shown.shape[1], [], [f"About {name} & more."])
        (tmp_path / f"{name}.tex").write_text(text, encoding="utf-8")
    tables = [tmp_path / "small.tex", tmp_path / "large.tex"]
    text = make_document({table.stem: table.read_text(encoding="utf-8") for table in tables})
    assert text.index(r"\input{small}") < text.index(r"About small \& more.") < text.index(r"\clearpage")
    assert text.index(r"\clearpage") < text.index(r"\input{large}")
    assert_compiles(*tables)
