"""How tables are written: CSV that programs read, Markdown in columns, LaTeX that compiles."""

from __future__ import annotations

from pathlib import Path

import pytest

from nmt.evaluation.seeds import shown
from nmt.report.tables.latex import tex_escape
from nmt.report.tables.writer import Table, as_tex, enough, frame, write_table
from tests.latex import assert_compiles, unescaped_specials
from tests.plain_csv import read_plain


def test_tex_escape() -> None:
    assert tex_escape("50% & a_b #1 $ ~ ^ \\ {}") == (
        r"50\% \& a\_b \#1 \$ \textasciitilde{} \textasciicircum{} \textbackslash{} \{\}"
    )


def test_tex_has_stand_ins_for_what_its_fonts_lack() -> None:
    assert tex_escape("5′ H₂O m² 1\u202f000\u200b\u2009x") == (
        r"5$^{\prime}$ H$_{2}$O m$^{2}$ 1\,000\allowbreak{}\,x"
    )
    assert tex_escape("e\u0301 œ “–”") == "é œ “–”"
    assert tex_escape("да\ufffd") == "".join(
        rf"{{\scriptsize[U+{code}]}}\allowbreak{{}}" for code in ("0434", "0430", "FFFD")
    )


def test_text_of_any_script_compiles(tmp_path: Path) -> None:
    latin = [chr(code) for code in (*range(0x20, 0x7F), *range(0xA0, 0x250))]
    lines = [" ".join(latin[start : start + 40]) for start in range(0, len(latin), 40)]
    lines += [
        "5′ 6″ H₂O 10⁻³ \u200b\u202f\u2009\u00a0\ufeff\ufffd α Ω ‐‑–—―‘’‚“”„†‡•…‰‹›€™ ≤ → 😀 \u0301 \x07 \t"
    ]
    lines += ["Однажды " * 30, "東京" * 40, "ب" * 60]
    table = Table(frame([], ["text"]), ["Sentence", "Text"], [["[1]", line] for line in lines])
    write_table(table, *(tmp_path / f"table.{form}" for form in ("csv", "md", "tex")))
    assert_compiles(tmp_path / "table.tex")


@pytest.mark.parametrize(
    ("value", "decimals", "text"),
    [
        (8.46, 2, "8.46"),
        (6.0, 2, "6.00"),
        (109.4, 0, "109"),
        (0.0342, 0, "0.034"),
        (2.34, 0, "2.3"),
        (0, 1, "0.0"),
    ],
)
def test_small_numbers_keep_two_digits(value: float, decimals: int, text: str) -> None:
    assert shown(value, None, enough(value, decimals)) == text


ROWS = [{"model": "a_b, 50% & {c}", "count": 1234567, "share": "0.50"}, {"model": "été", "count": None}]


@pytest.fixture
def written(tmp_path: Path) -> Path:
    """A table with text that LaTeX or Markdown could take for commands, a missing number and a rule."""
    cells = [["a_b, 50% & {c}", "1,234,567 ± 3", "x | *y*"], ["ab", "", "−1 × 10⁵"]]
    table = Table(
        frame(ROWS, ["model", "count", "share"]),
        ["Model", "Count", "Text"],
        cells,
        rules=[1],
        notes=["A note of ±: " + "many words " * 20],
    )
    write_table(table, *(tmp_path / f"table.{form}" for form in ("csv", "md", "tex")))
    return tmp_path


def test_csv_has_plain_numbers_and_empty_cells_for_missing_ones(written: Path) -> None:
    # by its bytes: a whole number beside a gap stays whole, lines end alike on every system
    text = 'model,count,share\n"a_b, 50% & {c}",1234567,0.50\nété,,\n'
    assert (written / "table.csv").read_bytes() == text.encode()
    table = read_plain(written / "table.csv", ["model", "count", "share"], words={"model"})
    assert table["count"][0] == 1234567 and table["share"][0] == 0.5 and table["count"].isna()[1]


def test_markdown_stands_in_columns_with_its_notes_below(written: Path) -> None:
    table, note = (written / "table.md").read_text(encoding="utf-8").split("\n\n")
    lines = table.split("\n")
    assert len({len(line) for line in lines}) == 1 and len(lines) == 4
    assert lines[1].replace("-", "") == "|:|:|:|" and lines[1].startswith("|:") and lines[1].endswith("-|")
    assert lines[1].split("|")[2].endswith("-:"), "numbers stand to the right"
    assert r"x \| \*y\*" in lines[2]
    assert note.startswith("A note of ±: many words") and max(map(len, note.split("\n"))) <= 100


def test_tex_is_a_document_of_its_own_without_stray_specials(written: Path) -> None:
    tex = (written / "table.tex").read_text(encoding="utf-8")
    assert tex.startswith("\\documentclass") and tex.endswith("\\end{document}\n")
    assert unescaped_specials(tex) == []
    assert tex.count(r"\midrule") == 2
    assert r"1,234,567 $\pm$ 3" in tex and r"x \textbar{} *y*" in tex


def test_a_row_that_begins_with_a_bracket_is_no_option_of_the_row_above() -> None:
    # LaTeX reads [ behind \\ as how much space to leave
    table = Table(frame([], []), ["Text"], [["a"], ["[UNK] b"]])
    assert r"{[UNK] b} \\" in as_tex(table)


def test_tex_compiles(written: Path) -> None:
    assert_compiles(written / "table.tex")
