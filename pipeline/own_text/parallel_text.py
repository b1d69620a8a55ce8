"""Files of parallel text as users have them: two files, or one file with a tab between both sides."""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from nmt.errors import UserError
from nmt.io.files import require_regular_file
from nmt.io.progress import Progress
from nmt.io.text_files import UnevenSidesError, pair_lines, read_lines
from pipeline.own_text.shift import PairLengths
from pipeline.own_text.spreadsheet import is_spreadsheet, read_rows

Pair = tuple[str, str]
"""Source and target of a line."""


@dataclass(frozen=True)
class ParallelText:
    """Files of parallel text: two with a sentence per line, or one (`source`) with a tab between both sides."""

    source: Path
    target: Path | None = None

    def __str__(self) -> str:
        return f"{self.source} and {self.target}" if self.target else str(self.source)

    @property
    def files(self) -> list[Path]:
        """The one or two files."""
        return [self.source, self.target] if self.target else [self.source]

    def read_pairs(
        self, progress: Progress | None = None, lengths: PairLengths | None = None
    ) -> Iterator[Pair]:
        """Yield both sides of each line, without byte order mark and carriage return. Add their lengths to `lengths`.

        Raises:
            UserError: a file is missing, damaged or not UTF-8, the numbers of lines differ, a tab is missing, or one of
                two files has both sides of the text.
        """
        for file in self.files:
            require_regular_file(file)  # a pipe could not be read more than once

        if lengths is None:
            lengths = PairLengths()
        pairs = self._read_columns(progress)
        if self.target:
            pairs = self._read_two_files(self.target, lengths, progress)
        pair_count = source_tabs = target_tabs = 0
        for pair in pairs:
            source, target = (line.removeprefix("\ufeff").rstrip("\r") for line in pair)
            lengths.add(source, target)
            yield source, target
            pair_count += 1
            if "\t" in source:
                source_tabs += 1
            if "\t" in target:
                target_tabs += 1

        # one of two files must not have both sides, with a tab in most of its lines
        for file, tab_count in zip(self.files, (source_tabs, target_tabs), strict=False):
            if self.target and 2 * tab_count > pair_count:
                raise UserError(
                    f"{file}: {tab_count:,} of {pair_count:,} lines have a tab, as in a file of both sides; name that"
                    " file alone, or cut its column (cut -f 1)"
                )

    @property
    def spreadsheets(self) -> list[Path]:
        """The files that a spreadsheet has written, with some cells in quotes."""
        columns = 1 if self.target else 2
        return [file for file in self.files if is_spreadsheet(file, columns)]

    def _read_two_files(
        self, target: Path, lengths: PairLengths, progress: Progress | None
    ) -> Iterator[Pair]:
        """Yield the pairs of two files. If one has more lines, the error says where a line may be missing.

        lengths: those of the pairs that are read so far.
        """
        # each line is one cell
        source_lines = (cells[0] for cells in self._read_cells(self.source, progress))
        target_lines = (cells[0] for cells in self._read_cells(target, progress))
        try:
            yield from pair_lines(self.source, target, source_lines, target_lines)
        except UnevenSidesError as error:
            line = lengths.find_shifted_line()
            location = f"; the sides look shifted from about line {line:,} on" if line else ""
            raise UserError(f"{error}{location}") from None

    def _read_columns(self, progress: Progress | None) -> Iterator[Pair]:
        """Yield the pairs of one file, with a tab between both sides of a line."""
        for line_number, cells in enumerate(self._read_cells(self.source, progress), 1):
            if len(cells) != 2 and any(map(str.strip, cells)):  # a line without text is a pair without text
                problem = f"found {len(cells) - 1} tabs, expected source, tab, target"
                if len(cells) == 1 and ";" in cells[0]:
                    problem += " (if it is CSV with semicolons, save it as tab-separated text)"
                remedy = "name both files, or cut out both columns, such as cut -f 2,4"
                raise UserError(f"{self.source}, line {line_number}: {problem}; {remedy}")
            yield cells[0], cells[-1]

    def _read_cells(self, file: Path, progress: Progress | None) -> Iterator[list[str]]:
        """Yield the cells of each line: one cell if there are two files, or else the text between tabs."""
        if file in self.spreadsheets:
            yield from read_rows(file, progress)
            return
        for line in read_lines(file, progress):
            yield [line] if self.target else line.split("\t")
