"""The numbers that the paper reports, read from the one file that holds them."""

from __future__ import annotations

from pathlib import Path

from pydantic import BaseModel, ConfigDict, ValidationError

from nmt.config.faults import summary
from nmt.config.yaml_text import parse
from nmt.errors import UserError


class ReportedScore(BaseModel):
    """A row of the paper's Table 1: BLEU, 0 to 100."""

    model_config = ConfigDict(extra="forbid")
    label: str
    bleu_all: float
    bleu_no_unk: float


class ReportedTraining(BaseModel):
    """A row of the paper's Table 2. Updates are plain; NLL is a mean over sentences."""

    model_config = ConfigDict(extra="forbid")
    label: str
    updates: int
    epochs: float
    hours: float
    device: str
    train_nll: float
    dev_nll: float


class ReportedData(BaseModel):
    """Sec. 4.1: words of the target language; `corpora` by their ids in `config.yaml`.

    `selected_corpora`: those of each corpus that were selected, as the names of the authors' texts have it.
    """

    model_config = ConfigDict(extra="forbid")
    corpora: dict[str, int] = {}
    total: int | None = None
    selected: int | None = None
    selected_corpora: dict[str, int] = {}


class OwnSentences(BaseModel):
    """The beginnings of the paper's example sentences, in the order in which it shows them."""

    model_config = ConfigDict(extra="forbid")
    figure3: list[str] = []
    table3: list[str] = []


class Paper(BaseModel):
    """Tables 1 and 2 of the paper, keyed by the ids of the models in `config.yaml`, and its words of training text."""

    model_config = ConfigDict(extra="forbid")
    table1: dict[str, ReportedScore]
    table2: dict[str, ReportedTraining]
    data: ReportedData = ReportedData()
    sentences: OwnSentences = OwnSentences()


def read_paper(path: Path | None, wanted: bool) -> Paper:
    """The reported numbers, or none when they are not `wanted`.

    Raises a `UserError` when they are wanted and there is no file, or when the file says something else.
    """
    if not wanted:
        return Paper(table1={}, table2={})
    if path is None:
        raise UserError(
            "settings say `reported: true` but no file of reported numbers is given; add --paper FILE"
        )
    return _parse(path)


def read_own_sentences(path: Path | None) -> OwnSentences:
    """The paper's example sentences; none without a file. They are no numbers: wanted for other runs too."""
    return _parse(path).sentences if path else OwnSentences()


def _parse(path: Path) -> Paper:
    try:
        return Paper.model_validate(parse(path.read_text(encoding="utf-8")))
    except FileNotFoundError:
        raise UserError(f"{path}: no such file; expected the numbers that the paper reports") from None
    except ValidationError as error:
        raise UserError(f"{path}: {summary(error, Paper)}") from None
    except ValueError as error:
        raise UserError(f"{path}: {error}") from None
