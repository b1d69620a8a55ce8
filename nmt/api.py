"""Translating from Python: `nmt.load(FOLDER).translate(TEXT)`. What `nmt translate` does, without files and streams."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Literal, overload

from nmt.errors import UserError, of_system
from nmt.io.environment import processors
from nmt.model.model_folder import refuse_other_than_model, text_settings
from nmt.settings.decoding import Asked, Computing
from nmt.settings.faults import checked, shown

if TYPE_CHECKING:
    import numpy as np
    from matplotlib.figure import Figure
    from numpy.typing import NDArray

    from nmt.data.text_processor import Text
    from nmt.decoding.text_translator import Candidate
    from nmt.decoding.text_translator import Translation as Translated
    from nmt.model.trained_model import TrainedModel
    from nmt.settings.decoding import Decoding, Device, SearchPrecision, TextSettings, UnknownWords


@dataclass(frozen=True)
class Translation:
    """One translation of a line.

    Attributes:
        source: the line.
        text: its translation.
        score: natural logarithm of its probability, the end of the sentence included.
        source_tokens: the line as the model reads it: S tokens.
        tokens: the translation as the model writes it: T tokens.
        token_scores: what each token and the end of the sentence add to `score`.
        attention: [T, S], alpha_ij of Eq. 6: how much of source token j went into target token i, without the columns
            and rows of the end symbols; None for a model without attention.
    """

    source: str
    text: str
    score: float
    source_tokens: list[str]
    tokens: list[str]
    token_scores: list[float] = field(repr=False)
    attention: NDArray[np.float32] | None = field(repr=False)

    def __str__(self) -> str:
        return self.text

    def plot(self, path: str | Path | None = None) -> Figure:
        """The attention as in Figure 3: source words along x, written words along y, 0 black and 1 white.

        Args:
            path: writes the figure there, too: .png, .pdf or .svg. Its folder is made where there is none.

        Raises:
            UserError: a model without attention, a line without words, another ending, or a place that cannot be
                written.
        """
        from nmt.plots.attention import attention_matrix
        from nmt.plots.style import save_as

        if self.attention is None:
            raise UserError("the model has no attention to draw; use one of the family rnnsearch")
        if not self.attention.size:
            raise UserError("the line has no words, or its translation has none: there is nothing to draw")
        figure = attention_matrix(self.attention, self.source_tokens, self.tokens)
        if path is not None:
            with system_errors():
                save_as(figure, _path(path, "plot"))
        return figure


class Model:
    """A trained model, or an ensemble, that translates lines of text.

    Attributes:
        labels: the models' names.
        languages: from which language into which, as the codes of `languages`.
        aligns: whether it has attention.
    """

    def __init__(self, folders: Sequence[Path], computing: Computing, shortlist: Path | None) -> None:
        """Use `nmt.load`."""
        from nmt.decoding import shortlist as shortlists
        from nmt.model.precision import refuse_unable

        self._text = text_settings_of(folders)
        self._computing = computing
        self._models = load_models(folders, decoding_with(self._text.decoding, computing))
        refuse_unable(computing.precision, next(self._models[0].network.parameters()).device)
        self._shortlist = shortlists.load(shortlist, self._models) if shortlist else None
        self.labels = [model.run.label for model in self._models]
        self.languages = self._text.languages.source, self._text.languages.target
        self.aligns = any(model.run.aligns for model in self._models)

    def __repr__(self) -> str:
        return f"<nmt model {', '.join(self.labels)}: {' to '.join(self.languages)}>"

    @overload
    def translate(  # type: ignore[overload-overlap]  # a str is a sequence of str, too
        self, text: str, *, beam_size: int | None = None, unknown: UnknownWords | None = None,
        tokenized: bool = False, max_words: int = 100,
    ) -> Translation: ...  # fmt: skip
    @overload
    def translate(
        self, text: Sequence[str], *, beam_size: int | None = None, unknown: UnknownWords | None = None,
        tokenized: bool = False, max_words: int = 100,
    ) -> list[Translation]: ...  # fmt: skip
    def translate(
        self,
        text: str | Sequence[str],
        *,
        beam_size: int | None = None,
        unknown: UnknownWords | None = None,
        tokenized: bool = False,
        max_words: int = 100,
    ) -> Translation | list[Translation]:
        """The best translation of a line, or of each line of a list, lines of similar length together.

        Args:
            text: raw text, one sentence per line.
            beam_size: partial translations that the search keeps, 1 for greedy search; the model's own unless given.
            unknown: words that the model cannot write: "keep" [UNK], "forbid" it, or "copy" the source word with most
                attention; as the model decodes unless given.
            tokenized: text and translations are tokens with spaces between them.
            max_words: longer lines are translated in pieces of so many tokens.

        Raises:
            UserError: something else than text, or an option that the model cannot follow.
        """
        lines = _lines(text)
        asked = checked(
            Asked, "translate", beam_size=beam_size, unknown=unknown, tokenized=tokenized, max_words=max_words
        )
        from nmt.decoding.text_translator import Options, TextTranslator

        decoding = decoding_with(self._text.decoding, self._computing, asked)
        unknown = asked.unknown or unknown_words(decoding)
        options = Options(
            decoding, unknown, True, asked.max_words, self._computing.precision, self._shortlist
        )
        translator = TextTranslator(self._models, *sides(self._text, asked.tokenized), options)
        found = [best_of(line) for line in translator(lines)]
        return found[0] if isinstance(text, str) else found


def load(
    *folders: str | Path,
    device: Device = "auto",
    threads: int | None = None,
    precision: SearchPrecision = "fp32",
    shortlist: str | Path | None = None,
) -> Model:
    """A trained model's folder, `models/...` of a run; several are an ensemble.

    Args:
        folders: of the models.
        device: "cpu", "cuda" or "auto": the GPU where there is one.
        threads: CPU threads; the model's own number unless given.
        precision: of the matrix products: "fp32", or faster on many processors "bf16" or "int8".
        shortlist: a file of `nmt shortlist`: only likely words are written.

    Raises:
        UserError: no such model, models that do not go together, or an option that there is not.
    """
    if not folders:
        raise UserError("nmt.load: no model; expected a folder such as experiments/demo/models/rnnsearch-50")
    paths = [_path(folder, "nmt.load") for folder in folders]
    words = None if shortlist is None else _path(shortlist, "nmt.load: shortlist")
    computing = checked(Computing, "nmt.load", device=device, threads=threads, precision=precision)
    with system_errors():
        return Model(paths, computing, words)


def _path(value: object, where: str) -> Path:
    if not isinstance(value, str | os.PathLike):
        raise UserError(f"{where}: found {shown(value)}, expected a path")
    return Path(value)


def _lines(text: str | Sequence[str]) -> list[str]:
    """A line, or lines, that are text and nothing else."""
    lines = list(text) if isinstance(text, Sequence) and not isinstance(text, str) else [text]
    for line in lines:
        if not isinstance(line, str):
            raise UserError(f"translate: found {shown(line)}, expected text, or a list of lines of text")
    return lines


@contextmanager
def system_errors() -> Iterator[None]:
    """What the system refuses is said as whatever else cannot be done."""
    try:
        yield
    except OSError as error:
        raise of_system(error) from None


# --- what `nmt translate` and `nmt score` use, too --------------------------------------------------------------------


def best_of(line: Translated) -> Translation:
    """The best translation of a line whose details are known."""
    best = line.n_best[0]
    scores = best.word_log_probabilities or []
    return Translation(
        source=line.source,
        text=best.text,
        score=best.log_probability,
        source_tokens=line.source_words,
        tokens=best.words,
        token_scores=list(scores),
        attention=_whole(best),
    )


def _whole(best: Candidate) -> NDArray[np.float32] | None:
    """Attention over the whole line, [T, S]; none goes from a piece of a long line to another."""
    import numpy as np

    if best.weights is None:
        return None
    rows, columns = (sum(weights.shape[axis] for weights in best.weights) for axis in (0, 1))
    whole, row, column = np.zeros((rows, columns), np.float32), 0, 0
    for weights in best.weights:
        height, width = weights.shape
        whole[row : row + height, column : column + width] = weights
        row, column = row + height, column + width
    return whole


def text_settings_of(folders: Sequence[Path]) -> TextSettings:
    """What the folders say of their text; several models must agree in it."""
    for folder in folders:
        refuse_other_than_model(folder)
    first, *others = (text_settings(folder) for folder in folders)
    for folder, other in zip(folders[1:], others, strict=True):
        if (other.languages, other.tokenization) != (first.languages, first.tokenization):
            raise UserError(
                f"{folder}: other languages or tokenization than {folders[0]}; see text.json in both"
            )
    return first


def sides(text: TextSettings, tokenized: bool) -> tuple[Text, Text]:
    """How lines of source and target become tokens and the other way round."""
    from nmt.data.text_processor import RawText, TokenText

    if tokenized:
        return TokenText(), TokenText()
    languages = text.languages
    return RawText(languages.source, text.tokenization), RawText(languages.target, text.tokenization)


def decoding_with(decoding: Decoding, computing: Computing, asked: Asked | None = None) -> Decoding:
    """The model's own way to decode with what the user wants otherwise."""
    asked = asked or Asked()
    return decoding.model_copy(
        update={
            "beam": max(asked.beam_size or decoding.beam, asked.n_best),
            "n_best": asked.n_best,
            "batch_size": computing.batch_size or decoding.batch_size,
            "threads": computing.threads or min(decoding.threads, processors()),
            "device": computing.device,
        }
    )


def unknown_words(decoding: Decoding) -> Literal["keep", "forbid"]:
    """What the model does about words that it cannot write."""
    return "forbid" if decoding.unknown == "excluded" else "keep"


def load_models(folders: Sequence[Path], decoding: Decoding) -> list[TrainedModel]:
    """The models, on the device that was asked for."""
    from nmt.model import cpu_products, trained_model
    from nmt.model.device import choose_device, keep_freed_memory, make_deterministic

    make_deterministic(decoding.threads)
    cpu_products.use(cpu_products.choose())
    keep_freed_memory()
    return [trained_model.load(folder, choose_device(decoding.device, announced=False)) for folder in folders]
