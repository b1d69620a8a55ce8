"""Tables, figures and reported numbers of a paper, from its file in workflow/papers."""

from __future__ import annotations

from collections.abc import Iterable
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field, model_validator

from nmt.environment import REPOSITORY
from nmt.errors import errors_as_user_error
from nmt.settings.base import validate_settings
from pipeline.config.text import SentenceLength
from pipeline.config.yaml_text import parse

PAPERS_FOLDER = REPOSITORY / "workflow" / "papers"
"""Folder of the papers' files."""

Name = Annotated[str, Field(pattern=r"^[a-z0-9][a-z0-9_]*$")]
"""The name of a table or figure, and of its files."""
Set = Literal["dev", "test"]


class _Entry(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class Column(_Entry):
    """A column of scores: the set and sentences that they are of.

    mode: as for `nmt test-set decode`. words: least and most words of a sentence. words_of: the side with these words,
    by default `artifacts.figure2_length`.
    """

    header: str
    set: Set = "test"
    mode: Literal["all", "no_unk"] = "all"
    words: tuple[int, int] | None = None
    words_of: SentenceLength | None = None


class ReportedScores(_Entry):
    """A row of the paper: scores by column.

    quoted: the row is shown although no system here has it. A score that the paper does not give with two decimals is
    text and shown as it is: "~45".
    """

    label: str
    quoted: bool = False
    scores: dict[str, float | Annotated[str, Field(pattern=r"^~?\d+(\.\d+)?$")]]

    def shown(self, column: str) -> str:
        """Return the score as the paper gives it; nothing where it gives none."""
        score = self.scores.get(column, "")
        return score if isinstance(score, str) else f"{score:.2f}"


class ReportedTraining(_Entry):
    """A row of the paper's learning statistics. NLL is a mean over sentences."""

    label: str
    updates: int | None = None
    epochs: float | None = None
    hours: float | None = None
    device: str | None = None
    train_nll: float | None = None
    dev_nll: float | None = None


class SentenceGroup(_Entry):
    """Sentences of a table: the paper's own, which have these openings, then others, which are drawn.

    sentences: their number. least, most: words of a source. None: the values of `artifacts.table3_*`.
    """

    openings: list[str] = []
    sentences: int | None = None
    least: int = 1
    most: int | None = None


class _Table(_Entry):
    called: str
    """Its name in the paper: Table 1, or Table 1 (a)."""


class ScoreTable(_Table):
    """Systems by columns of scores.

    rows: systems in their order, as names or patterns (`lstm-*`). Without them, all: models, then other systems.
    """

    kind: Literal["scores"]
    columns: dict[Name, Column]
    rows: list[str] = []
    reported: dict[str, ReportedScores] = {}

    @model_validator(mode="after")
    def _known(self) -> ScoreTable:
        for system, row in self.reported.items():
            if others := sorted(row.scores.keys() - self.columns.keys()):
                raise ValueError(
                    f"{system} has a score of the column {others[0]}, which is none of the table"
                )
        return self

    def row_of(self, system: str) -> int | None:
        """Return the place of a system's row among the patterns; None for one that the table does not show."""
        if not self.rows:
            return 0
        return next((place for place, row in enumerate(self.rows) if fnmatchcase(system, row)), None)

    @property
    def sets(self) -> list[Set]:
        """Return the sets that the columns are of, each once."""
        return list(dict.fromkeys(column.set for column in self.columns.values()))


class TrainingTable(_Table):
    """Learning statistics of each model."""

    kind: Literal["training"]
    reported: dict[str, ReportedTraining] = {}


class SentenceTable(_Table):
    """Sentences with their reference and the systems' translations.

    sets: those with the sentences. known: only sentences without unknown words in source and reference, translated with
    [UNK] forbidden. others: systems besides the models, shown if their translations are given.
    """

    kind: Literal["sentences"]
    groups: Annotated[list[SentenceGroup], Field(min_length=1)]
    sets: Annotated[list[Set], Field(min_length=1)] = ["test"]
    known: bool = False
    others: list[str] = []


class PerplexityTable(_Table):
    """Perplexity of each system on the test set. reported: by system."""

    kind: Literal["perplexity"]
    reported: dict[str, float] = {}


Table = Annotated[ScoreTable | TrainingTable | SentenceTable | PerplexityTable, Field(discriminator="kind")]


class ReportedData(_Entry):
    """Words of the target language in Sec. 4.1; `corpora` have their ids in `config.yaml`.

    selected_corpora: the selected words of each corpus, according to the names of the authors' texts.
    """

    corpora: dict[str, int] = {}
    total: int | None = None
    selected: int | None = None
    selected_corpora: dict[str, int] = {}


class Paper(_Entry):
    """A paper's tables, figures and words of training text. Models have their ids in `config.yaml`.

    name: the name in notes. openings: beginnings of the example sentences of Figure 3, in the paper's order.
    """

    name: str
    tables: dict[Name, Table]
    figures: list[Name] = []
    openings: list[str] = []
    data: ReportedData = ReportedData()


def sets_of(table: Table) -> list[str]:
    """Return the sets whose translations a table shows or scores."""
    return list(table.sets) if isinstance(table, ScoreTable | SentenceTable) else []


def list_translated_sets(papers: Iterable[Paper]) -> list[str]:
    """Return the sets that a run translates: the test set, and those that its papers' tables show."""
    tables = [table for paper in papers for table in paper.tables.values()]
    return sorted({"test", *(set_name for table in tables for set_name in sets_of(table))})


def read_paper(path: Path) -> Paper:
    """Return what the file of a paper says; a `UserError` where there is none or it says something else."""
    with errors_as_user_error(path, "correct it"):
        values = parse(path.read_text(encoding="utf-8"))
    return validate_settings(Paper, values, str(path))
