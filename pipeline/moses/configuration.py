"""A phrase-based system, and the decoder's configuration (moses.ini): tables, language model, weights."""

from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from nmt.errors import UserError
from pipeline.moses.phrases import count_scores

INITIAL_WEIGHTS = """\
UnknownWordPenalty0= 1
WordPenalty0= -1
PhrasePenalty0= 0.2
TranslationModel0={scores}
LexicalReordering0= 0.3 0.3 0.3 0.3 0.3 0.3
Distortion0= 0.3
LM0= 0.5
"""
"""The initial weights of Moses' training script; `scores` has a weight for each score of a phrase pair."""


@dataclass(frozen=True)
class System:
    """A phrase-based system without its weights. The keys of `moses` in the settings have the same names."""

    phrases: Path
    reordering_table: Path
    language_model: Path
    reordering: str
    lm_order: int
    distortion_limit: int
    cube_pruning: int | None

    @cached_property
    def phrase_scores(self) -> int:
        """The number of scores that each pair of the phrase table has."""
        return count_scores(self.phrases)

    @property
    def search_options(self) -> list[str]:
        """The decoder's options for cube pruning; none if the settings do not ask for it."""
        if not self.cube_pruning:
            return []
        pop_limit = str(self.cube_pruning)
        return ["-search-algorithm", "1", "-cube-pruning-pop-limit", pop_limit, "-s", pop_limit]


def make_initial_weights(system: System) -> str:
    """Return the weights to tune from, a feature per line."""
    return INITIAL_WEIGHTS.format(scores=" 0.2" * system.phrase_scores)


def format_configuration(system: System, weights: str) -> str:
    """Return the text of a moses.ini with absolute paths.

    Raises:
        UserError: a path has a space, which Moses would read as the end of the path.
    """
    phrases = system.phrases.absolute()
    reordering = system.reordering_table.absolute()
    language_model = system.language_model.absolute()
    for path in (phrases, reordering, language_model):
        if " " in str(path):
            raise UserError(f"{path}: Moses reads no path with a space; move the experiment")

    phrase_feature = f"PhraseDictionaryMemory name=TranslationModel0 num-features={system.phrase_scores}"
    reordering_type = f"wbe-{system.reordering}-allff"
    reordering_feature = f"LexicalReordering name=LexicalReordering0 num-features=6 type={reordering_type}"
    factors = "input-factor=0 output-factor=0"
    return f"""\
[input-factors]
0
[mapping]
0 T 0
[distortion-limit]
{system.distortion_limit}
[feature]
UnknownWordPenalty
WordPenalty
PhrasePenalty
{phrase_feature} {factors} path={phrases}
{reordering_feature} {factors} path={reordering}
Distortion
KENLM name=LM0 factor=0 path={language_model} order={system.lm_order}
[weight]
{weights}"""


def read_weights(configuration_file: Path) -> str:
    """Return the weights that tuning left in a moses.ini, a feature per line, such as "LM0= 0.5"."""
    lines = configuration_file.read_text(encoding="utf-8").split("\n")
    weights = [line for line in lines[lines.index("[weight]") + 1 :] if "= " in line]
    return "".join(f"{line}\n" for line in sorted(weights))
