"""A table in its two forms, for programs and for readers, and the numbers in it."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass

from pipeline.results.seeds import Result


@dataclass(frozen=True)
class Table:
    """A table in its two forms."""

    records: Sequence[Result]
    """The rows for programs, each with all columns in their order."""
    headers: Sequence[str]
    """The headers for readers, as in the paper. A header may occur twice."""
    rows: Sequence[Sequence[str]]
    """The rows for readers, with a cell for each header."""
    text_columns: Collection[str] = ("Model",)
    """Headers of columns with words, which are aligned to the left."""
    group_starts: Sequence[int] = ()
    """Rows that begin a group, with a horizontal line above them."""
    notes: Sequence[str] = ()
    """Paragraphs below the table."""
    csv_columns: Sequence[str] | None = None
    """The columns for programs of a table that may have no records; None: those of the first record."""


def format_number(value: float | None, decimals: int) -> str:
    """Return a number with these decimals, or "" for a missing number."""
    return "" if value is None else f"{value:.{decimals}f}"


def format_difference(value: float | None, decimals: int) -> str:
    """Return a difference for readers, with + or a true minus sign; "" for a missing difference."""
    return "" if value is None else f"{value:+.{decimals}f}".replace("-", "−")
