"""The decoder's configuration (moses.ini): tables, language model, weights."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

from nmt.errors import UserError

START = """\
UnknownWordPenalty0= 1
WordPenalty0= -1
PhrasePenalty0= 0.2
TranslationModel0={scores}
LexicalReordering0= 0.3 0.3 0.3 0.3 0.3 0.3
Distortion0= 0.3
LM0= 0.5
"""
"""The initial weights of Moses' training script, for a table with a number of scores."""


@dataclass(frozen=True)
class System:
    """A phrase-based system without its weights."""

    phrases: Path
    reordering: Path
    reordering_type: str
    language_model: Path
    order: int
    distortion_limit: int
    phrase_scores: int = field(default=4, repr=False)
    """Scores of each pair in the phrase table."""

    @property
    def files(self) -> tuple[Path, Path, Path]:
        """Return the paths of tables and language model."""
        return self.phrases, self.reordering, self.language_model


def start_weights(system: System) -> str:
    """Return weights to tune from."""
    return START.format(scores=" 0.2" * system.phrase_scores)


def configuration(system: System, weights: str) -> str:
    """Return the text of a moses.ini; all paths absolute.

    Raises:
        UserError: a path has a space, where Moses' own notation ends.
    """
    for path in system.files:
        if " " in str(path.absolute()):
            raise UserError(f"{path.absolute()}: Moses reads no path with a space; move the experiment")
    reordering = (
        f"LexicalReordering name=LexicalReordering0 num-features=6 type=wbe-{system.reordering_type}-allff"
    )
    return "\n".join(
        [
            "[input-factors]",
            "0",
            "[mapping]",
            "0 T 0",
            "[distortion-limit]",
            str(system.distortion_limit),
            "[feature]",
            "UnknownWordPenalty",
            "WordPenalty",
            "PhrasePenalty",
            f"PhraseDictionaryMemory name=TranslationModel0 num-features={system.phrase_scores}"
            f" path={system.phrases.absolute()} input-factor=0 output-factor=0",
            f"{reordering} input-factor=0 output-factor=0 path={system.reordering.absolute()}",
            "Distortion",
            f"KENLM name=LM0 factor=0 path={system.language_model.absolute()} order={system.order}",
            "[weight]",
            weights,
        ]
    )


def weights_of(configuration_file: Path) -> str:
    """Return the weights that tuning left in a moses.ini, a feature per line.

    Raises:
        UserError: there are none, or other features than a system has.
    """
    lines = configuration_file.read_text(encoding="utf-8").split("\n")
    start = lines.index("[weight]") + 1 if "[weight]" in lines else len(lines)
    found = [line for line in lines[start:] if "= " in line]
    names = {line.split("=")[0] for line in found}
    expected = {line.split("=")[0] for line in START.split("\n") if line}
    if names != expected:
        raise UserError(
            f"{configuration_file}: weights of {', '.join(sorted(names)) or 'nothing'}, "
            f"expected {', '.join(sorted(expected))}; tune again"
        )
    return "".join(f"{line}\n" for line in sorted(found))
