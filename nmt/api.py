"""Translates from Python: `nmt.load(FOLDER).translate(TEXT)` does the same as `nmt translate`, without files."""

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
    """A translation of a line.

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
        """Draw the attention as in Figure 3: source words along x, written words along y, 0 is black and 1 is white.

        Args:
            path: a file that the figure is also written to: .png, .pdf or .svg. Its folder is made if it is missing.

        Raises:
            UserError: the model has no attention, the line has no words, or the file cannot be written.
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
        languages: codes of the source and the target language, such as ("en", "fr").
        aligns: whether the model has attention.
    """

    def __init__(self, folders: Sequence[Path], computing: Computing, shortlist: Path | None) -> None:
        """Use `nmt.load`."""
        from nmt.decoding import shortlist as shortlists
        from nmt.model.precision import refuse_unable

        self._text = text_settings_of(folders)
        self._computing = computing
        self._models = load_models(folders, decoding_with(self._text.decoding, computing))
        refuse_unable(computing.precision, self._models[0].device)
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
        """Translate a line, or each line of a list. Lines of similar length are searched together.

        Args:
            text: raw text, one sentence per line.
            beam_size: how many partial translations the search keeps. 1 is greedy search. Default: the model's setting.
            unknown: what to do about words that the model cannot write: "keep" writes [UNK], "forbid" never writes it,
                "copy" writes the source word with most attention. Default: the model's setting.
            tokenized: whether text and translations are tokens with spaces between them, not raw text.
            max_words: lines with more tokens are translated in pieces of at most this many.

        Returns:
            One `Translation` for a line, a list of them for a list.

        Raises:
            UserError: `text` is not text, or the model cannot do what an option asks for.
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
    """Load a trained model, or several as an ensemble.

    This sets PyTorch's number of threads, its precision of matrix products and its deterministic mode for the whole
    process, which also keeps the memory that it frees.

    Args:
        folders: one folder per model, such as `models/rnnsearch-50` of an experiment.
        device: "cpu", "cuda" or "auto". "auto" takes the GPU if there is one.
        threads: number of CPU threads. Default: the model's setting.
        precision: precision of the matrix products. "bf16" and "int8" are faster than "fp32" on many processors.
        shortlist: a file that `nmt shortlist` wrote. The model then writes only words that are likely translations.

    Raises:
        UserError: a folder holds no model, the models do not fit together, or an option has no such value.
    """
    if not folders:
        raise UserError("nmt.load: no model; expected a folder such as experiments/demo/models/rnnsearch-50")
    paths = [_path(folder, "nmt.load") for folder in folders]
    words = None if shortlist is None else _path(shortlist, "nmt.load: shortlist")
    computing = checked(Computing, "nmt.load", device=device, threads=threads, precision=precision)
    with system_errors():
        return Model(paths, computing, words)


def _path(value: object, where: str) -> Path:
    if not isinstance(value, str | os.PathLike) or "\0" in str(value):
        raise UserError(f"{where}: found {shown(value)}, expected a path")
    return Path(value)


def _lines(text: str | Sequence[str]) -> list[str]:
    """Return the given line or lines as a list. Raise a UserError if anything in it is not text."""
    lines = list(text) if isinstance(text, Sequence) and not isinstance(text, str | bytes) else [text]
    for line in lines:
        if not isinstance(line, str):
            raise UserError(f"translate: found {shown(line)}, expected text, or a list of lines of text")
    return lines


@contextmanager
def system_errors() -> Iterator[None]:
    """Turn an error of the operating system into a `UserError` of one line."""
    try:
        yield
    except OSError as error:
        raise of_system(error) from None


# --- what `nmt translate` and `nmt score` use, too --------------------------------------------------------------------


def best_of(line: Translated) -> Translation:
    """Return the best translation of a line that was translated with details."""
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
    """Return the attention over the whole line, [T, S]. It is 0 between different pieces of a long line."""
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
    """Return the models' text settings. Raise a UserError if their languages or tokenizations differ."""
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
    """Return the text processors of source and target, which turn lines into tokens and back."""
    from nmt.data.text_processor import RawText, TokenText

    if tokenized:
        return TokenText(), TokenText()
    languages = text.languages
    return RawText(languages.source, text.tokenization), RawText(languages.target, text.tokenization)


def decoding_with(decoding: Decoding, computing: Computing, asked: Asked | None = None) -> Decoding:
    """Return the model's decoding settings, with those replaced that the user gave."""
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
    """Return what the model does about words that it cannot write."""
    return "forbid" if decoding.unknown == "excluded" else "keep"


def load_models(folders: Sequence[Path], decoding: Decoding) -> list[TrainedModel]:
    """Load the models onto the device that the settings name."""
    from nmt.model import cpu_products, trained_model

    models = trained_model.load_all(folders, decoding.device, decoding.threads, announced=False)
    cpu_products.use(cpu_products.choose())
    return models
