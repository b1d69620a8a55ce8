"""Tables, figures, claims and reported numbers of a paper, from its file in workflow/papers."""

from collections.abc import Iterable
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Annotated, Literal, Self

from pydantic import BaseModel, ConfigDict, Field, model_validator

from nmt.environment import REPOSITORY
from nmt.errors import errors_as_user_error
from nmt.settings.base import Identifier, validate_settings
from pipeline.config.text import SentenceLength
from pipeline.config.yaml_text import parse
from pipeline.results.paper_claims import AscendingNumbers, Claim, Role

PAPERS_FOLDER = REPOSITORY / "workflow" / "papers"
"""Folder of the papers' files."""

Name = Annotated[str, Field(pattern=r"^[a-z0-9][a-z0-9_]*$")]
"""The name of a table or figure, and of its files."""
SetName = Literal["dev", "test"]


class _Entry(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class ScoreColumn(_Entry):
    """A column of scores: BLEU on a set of sentences, or on some of its sentences."""

    header: str
    set: SetName = "test"
    mode: Literal["all", "no_unk"] = "all"
    """As for `nmt test-set decode`: all sentences, or those without unknown words."""
    words: tuple[int, int] | None = None
    """Minimum and maximum number of words of a sentence; None: any."""
    words_of: SentenceLength | None = None
    """The side whose words are counted; None: `artifacts.figure2_length`."""


class ReportedScores(_Entry):
    """A row of scores in the paper."""

    label: str
    quoted: bool = False
    """Whether the row is shown even if the run has no such system."""
    scores: dict[str, float | Annotated[str, Field(pattern=r"^~?\d+(\.\d+)?$")]]
    """Scores by column. A score that the paper does not print with two decimals is text, such as "~45"."""

    def format(self, column: str) -> str:
        """Return the score of a column as the paper prints it, or "" if the row has none."""
        score = self.scores.get(column, "")
        return score if isinstance(score, str) else f"{score:.2f}"


class ReportedTraining(_Entry):
    """A row of the paper's learning statistics. NLL is a mean over sentences."""

    updates: int | None = None
    epochs: float | None = None
    hours: float | None = None
    device: str | None = None
    train_nll: float | None = None
    dev_nll: float | None = None


class SentenceGroup(_Entry):
    """Sentences of a table: first the paper's own, then others, sampled at random."""

    openings: list[str] = []
    """Beginnings of the paper's own sentences."""
    sentences: int | None = None
    """Number of sentences; None: `artifacts.table3_sentences`, with `artifacts.table3_words` or more words."""
    min_words: int = 1
    """Minimum number of source words of a sampled sentence."""
    max_words: int | None = None
    """Maximum number of source words; None: no limit."""


class _PaperTable(_Entry):
    title: str
    """Title in the paper: Table 1, or Table 1 (a)."""


class ScoreTable(_PaperTable):
    """A table of systems by columns of scores."""

    kind: Literal["scores"]
    columns: dict[Name, ScoreColumn]
    rows: list[str] = []
    """Names or patterns (`lstm-*`) of the systems, in order. If there are none, the table has all systems."""
    reported: dict[str, ReportedScores] = {}

    @model_validator(mode="after")
    def _check_reported_columns(self) -> Self:
        for system, row in self.reported.items():
            if unknown_columns := sorted(row.scores.keys() - self.columns.keys()):
                raise ValueError(
                    f"{system} has a score of the column {unknown_columns[0]}, which the table does not have"
                )
        return self

    def find_row(self, system: str) -> int | None:
        """Return the position of a system's row, or None if the table does not show the system.

        If the paper's file lists no rows, every system is shown and has position 0.
        """
        if not self.rows:
            return 0
        for row, pattern in enumerate(self.rows):
            if fnmatchcase(system, pattern):
                return row
        return None

    @property
    def sets(self) -> list[SetName]:
        """The sets of the columns, each once."""
        return list(dict.fromkeys(column.set for column in self.columns.values()))


class TrainingTable(_PaperTable):
    """A table of learning statistics, with a row per model."""

    kind: Literal["training"]
    reported: dict[str, ReportedTraining] = {}


class SentenceTable(_PaperTable):
    """A table of sentences with their reference and the systems' translations."""

    kind: Literal["sentences"]
    groups: Annotated[list[SentenceGroup], Field(min_length=1)]
    sets: Annotated[list[SetName], Field(min_length=1)] = ["test"]
    """The sets from which the sentences come."""
    no_unk: bool = False
    """Whether only sentences without unknown words in source and reference are shown, translated without [UNK]."""
    other_systems: list[str] = []
    """Systems besides the models, shown if they have translated the sets."""


class PerplexityTable(_PaperTable):
    """A table of each system's perplexity on the test set."""

    kind: Literal["perplexity"]
    reported: dict[str, float] = {}
    """By system."""


PaperTable = Annotated[
    ScoreTable | TrainingTable | SentenceTable | PerplexityTable, Field(discriminator="kind")
]


class Paper(_Entry):
    """A paper's tables, figures, claims and numbers of training words. Models are named as in `config.yaml`."""

    name: str
    """Name in notes: Cho et al. (2014b)."""
    title: str
    arxiv: str
    """Number on arXiv: 1409.1259."""
    tables: dict[Name, PaperTable]
    figures: list[Name] = []
    openings: list[str] = []
    """Beginnings of the example sentences of Figure 3, in the paper's order."""
    data: dict[Literal["tokens", "selected"], dict[str, int]] = {}
    """Numbers of target words of the training text (Sec. 4.1), by stage and by the names of corpora in `config.yaml`;
    `total` is the number of all corpora."""
    systems: dict[Identifier, Role] = {}
    """The systems of the claims, by the names that they have in `reported`."""
    claims: dict[Identifier, Claim] = {}

    @model_validator(mode="after")
    def _check_claims(self) -> Self:
        for name, claim in self.claims.items():
            unknown_systems = [system for system in claim.systems if system not in self.systems]
            if unknown_systems:
                raise ValueError(f"claims.{name}: {unknown_systems[0]} is not in systems")
            if isinstance(claim, AscendingNumbers):
                if not isinstance(self.tables.get(claim.table), TrainingTable | PerplexityTable):
                    raise ValueError(f"claims.{name}: {claim.table} is not a table of training or perplexity")
                continue
            for _, path, _ in claim.list_scores():
                self.find_score_table(path)
        return self

    def label_system(self, name: str) -> str:
        """Return the system's label in the paper's tables or, without one, its name in the paper's file."""
        for table in self.tables.values():
            if isinstance(table, ScoreTable) and name in table.reported:
                return table.reported[name].label
        return name

    def find_score_table(self, path: str) -> tuple[ScoreTable, str]:
        """Return the table of scores that has the column of a path, such as table1.all, and the column's name."""
        table_name, column = path.split(".")
        table = self.tables.get(table_name)
        if not isinstance(table, ScoreTable) or column not in table.columns:
            raise ValueError(f"no table of scores has the column {path}")
        return table, column


def list_translated_sets(papers: Iterable[Paper]) -> list[str]:
    """Return the sets that a run translates: the test set, and the sets of the papers' tables."""
    set_names = {"test"}
    for paper in papers:
        for table in paper.tables.values():
            if isinstance(table, ScoreTable | SentenceTable):
                set_names.update(table.sets)
    return sorted(set_names)


def read_paper(path: Path) -> Paper:
    """Read the file of a paper; a `UserError` if it cannot be read or is not valid."""
    with errors_as_user_error(path, remedy="correct it"):
        values = parse(path.read_text(encoding="utf-8"))
    return validate_settings(Paper, values, str(path))
