"""The claims of a paper and the systems that they compare, as in the paper's file in workflow/papers.

Runs give the systems other names, such as RNNsearch-26, so the file describes each system by its settings.
"""

from typing import Annotated, Literal, Self

from pydantic import BaseModel, ConfigDict, Field, model_validator

from nmt.settings.base import Identifier
from nmt.settings.model_types import ModelTypeName


class _Entry(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


# --- systems ----------------------------------------------------------------------------------------------------------


class ModelRole(_Entry):
    """The first model in use with these settings."""

    model_type: ModelTypeName
    limit: Literal["shortest", "longest", "shorter", "longer"] | None = None
    """Whether the model's limit of sentence length is the shortest or longest among the models of its kind in use.
    shorter and longer: the same, but only if these have different limits. None: any limit."""
    continued: bool = False
    """Whether the model continues the training of another model."""
    source_order: Literal["reversed", "forward"] | None = None
    """The order in which an LSTM reads the source; None: any."""
    fewer_layers: int = 0
    """How many layers fewer the model has than the deepest of its kind in use."""


class EnsembleRole(_Entry):
    """An ensemble of runs of a model."""

    ensemble_of: Identifier
    """The role of the model."""
    members: int
    beam: int


class RescoredRole(_Entry):
    """N-best lists that runs of a model have rescored."""

    rescored_by: Identifier
    """The role of the model."""
    members: int = 1


class ListsRole(_Entry):
    """The system whose n-best lists are rescored."""

    lists: Literal[True]
    reported_as: Identifier
    """The name of this system in the paper's tables."""


class NamedRole(_Entry):
    """A system that has the same name in every run."""

    name: Literal["moses", "moses-rnnenc"]


Role = ModelRole | EnsembleRole | RescoredRole | ListsRole | NamedRole


# --- claims -----------------------------------------------------------------------------------------------------------

ColumnPath = Annotated[str, Field(pattern=r"^[a-z0-9_]+\.[a-z0-9_]+$")]
"""A column of a table of scores: table1.all."""
Sentences = Literal["all", "longest", "known_words", "unknown_words"]
"""The sentences of a column that count: all of them, the longest (as in the headline), or the sentences without or with
unknown words in the source."""


class _Claim(_Entry):
    says: str
    """The claim in words."""
    place: str
    """Where the paper makes the claim: Table 1, or Sec. 5.1."""
    reported: str | None = None
    """The paper's evidence in words, if no table of its file has the numbers."""


class HigherScore(_Claim):
    """The first system has a higher BLEU than the second."""

    test: Literal["higher"]
    systems: tuple[Identifier, Identifier]
    column: ColumnPath
    sentences: Sentences = "all"


class WiderGap(_Claim):
    """The first system's lead in BLEU over the second is greater on some sentences than on all of `than_column`."""

    test: Literal["gap"]
    systems: tuple[Identifier, Identifier]
    column: ColumnPath
    sentences: Sentences = "all"
    than_column: ColumnPath


class KeptScore(_Claim):
    """A system's BLEU on some sentences is at least, or at most, a fraction of its BLEU on others."""

    test: Literal["kept"]
    system: Identifier
    column: ColumnPath
    sentences: Sentences = "all"
    of_column: ColumnPath
    of_sentences: Sentences = "all"
    at_least: float | None = None
    at_most: float | None = None

    @model_validator(mode="after")
    def _check_bound(self) -> Self:
        if (self.at_least is None) == (self.at_most is None):  # neither or both
            raise ValueError("expected at_least or at_most")
        return self

    @property
    def systems(self) -> tuple[Identifier]:
        """The only system."""
        return (self.system,)


class AscendingNumbers(_Claim):
    """Each system has a lower (better) NLL or perplexity than the next system."""

    test: Literal["lower"]
    systems: Annotated[tuple[Identifier, ...], Field(min_length=2)]
    table: str
    """The paper's table that has the numbers: `dev_nll` of a table of training, or perplexity."""


Claim = Annotated[HigherScore | WiderGap | KeptScore | AscendingNumbers, Field(discriminator="test")]


def list_columns(claim: Claim) -> list[str]:
    """Return the columns whose scores a claim needs."""
    match claim:
        case HigherScore():
            return [claim.column]
        case WiderGap():
            return [claim.column, claim.than_column]
        case KeptScore():
            return [claim.column, claim.of_column]
        case AscendingNumbers():
            return []
