"""The claims of a paper and the systems that they compare, as in the paper's file in workflow/papers.

Runs give the systems other names, such as RNNsearch-26, so the file describes each system by its settings.
"""

import math
from collections.abc import Sequence
from itertools import pairwise
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field

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
Sentences = Literal["all", "longest", "shortest", "known_words", "unknown_words"]
"""The sentences of a column that count: all of them, the longest (as in the headline), the shortest (as many lengths as
a window of Figure 2 has), or the sentences without or with unknown words in the source."""
ScorePlace = tuple[str, str, Sentences]
"""Where a score stands: system, column and sentences."""


class _Claim(_Entry):
    says: str
    """The claim in words."""
    place: str
    """Where the paper makes the claim: Table 1, or Sec. 5.1."""
    reported: str | None = None
    """The paper's evidence in words, if no table of its file has the numbers."""


class HigherScore(_Claim):
    """The first system has a higher BLEU than the second.

    If there is a `than_column`, the claim is that the lead is greater than on all sentences of that column.
    """

    test: Literal["higher"]
    systems: tuple[Identifier, Identifier]
    column: ColumnPath
    sentences: Sentences = "all"
    than_column: ColumnPath | None = None

    def list_scores(self) -> list[ScorePlace]:
        """Return the scores that the claim compares: two, or four if two leads are compared."""
        places: list[ScorePlace] = [(system, self.column, self.sentences) for system in self.systems]
        if self.than_column:
            places += [(system, self.than_column, "all") for system in self.systems]
        return places

    def compute_effect(self, scores: Sequence[Any]) -> Any:
        """Return the first system's lead, or how much greater it is than on `than_column`.

        `scores` are those of `list_scores`: numbers, or arrays of samples.
        """
        lead = scores[0] - scores[1]
        return lead - (scores[2] - scores[3]) if self.than_column else lead


class KeptScore(_Claim):
    """A system's BLEU on some sentences is at least, or at most, a fraction of its BLEU on others."""

    test: Literal["kept"]
    system: Identifier
    column: ColumnPath
    sentences: Sentences = "all"
    of_column: ColumnPath
    of_sentences: Sentences = "all"
    at_least: float = -math.inf
    at_most: float = math.inf

    @property
    def systems(self) -> tuple[Identifier]:
        """The only system."""
        return (self.system,)

    def list_scores(self) -> list[ScorePlace]:
        """Return the scores that the claim compares."""
        return [
            (self.system, self.column, self.sentences),
            (self.system, self.of_column, self.of_sentences),
        ]

    def compute_effect(self, scores: Sequence[Any]) -> Any:
        """Return the fraction. `scores` are those of `list_scores`; the second ones are greater than 0."""
        return scores[0] / scores[1]


class AscendingNumbers(_Claim):
    """Each system has a lower (better) NLL or perplexity than the next system."""

    test: Literal["lower"]
    systems: Annotated[tuple[Identifier, ...], Field(min_length=2)]
    table: str
    """The paper's table that has the numbers: `dev_nll` of a table of training, or perplexity."""

    def compute_effect(self, numbers: Sequence[float]) -> float:
        """Return the smallest step between the numbers of two neighbours."""
        return min(number - previous_number for previous_number, number in pairwise(numbers))


ScoreClaim = HigherScore | KeptScore
Claim = Annotated[ScoreClaim | AscendingNumbers, Field(discriminator="test")]
