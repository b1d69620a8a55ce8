"""Translates from Python: `nmt.load(FOLDER).translate(TEXT)` does the same as `nmt translate`, without files."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, overload

from nmt.decoding.translation import Translation as Translation
from nmt.errors import UserError, os_errors_as_user_error
from nmt.settings.base import validate_settings
from nmt.settings.decoding import ComputeOptions, PythonOptions, TranslateOptions
from nmt.store.model_folder import read_text_settings

if TYPE_CHECKING:
    from nmt.decoding.translator import TextTranslator


class Model:
    """A trained model, or an ensemble, that translates lines of text.

    Attributes:
        labels: the models' names.
        languages: codes of the source and the target language, such as ("en", "fr").
        has_attention: whether the model has attention.
    """

    def __init__(self, folders: Sequence[Path], compute: ComputeOptions) -> None:
        """Use `nmt.load`."""
        self.text_settings, self.compute = read_text_settings(folders[0]), compute
        # PyTorch is imported after the settings were checked, since the import takes seconds.
        from nmt.store import trained_model

        decoding = self.text_settings.decoding_settings(compute, TranslateOptions())
        self.trained_models = trained_model.load_models(
            folders,
            decoding.device,
            decoding.threads,
            precision=compute.precision,
            matmul_library="auto",
            announce=False,
        )
        self.batch_size = decoding.batch_size
        self.labels = [model.run.label for model in self.trained_models]
        self.languages = self.text_settings.languages.source, self.text_settings.languages.target
        self.has_attention = any(model.run.has_attention for model in self.trained_models)

    def __repr__(self) -> str:
        return f"<nmt model {', '.join(self.labels)}: {' to '.join(self.languages)}>"

    def translator(
        self, options: TranslateOptions, n_best: int = 1, keep_attention: bool = True
    ) -> TextTranslator:
        """Return a function that translates lines with these options, each to its `n_best` best translations."""
        from nmt.decoding.translator import TextTranslator

        return TextTranslator(
            self.trained_models,
            self.text_settings,
            options,
            self.compute,
            n_best=n_best,
            keep_attention=keep_attention,
        )

    @overload
    def translate(self, text: str, *, n_best: None = None, **options: Any) -> Translation: ...
    @overload
    def translate(self, text: Sequence[str], *, n_best: None = None, **options: Any) -> list[Translation]: ...
    @overload
    def translate(self, text: str, *, n_best: int, **options: Any) -> list[Translation]: ...
    @overload
    def translate(self, text: Sequence[str], *, n_best: int, **options: Any) -> list[list[Translation]]: ...
    def translate(
        self, text: str | Sequence[str], **options: Any
    ) -> Translation | list[Translation] | list[list[Translation]]:
        """Translate a line, or each line of a list. Lines of similar length are translated together.

        Args:
            text: a line of raw text, or several (a list, a generator), one sentence per line.
            options: keys of `nmt.settings.decoding.PythonOptions`: beam_size, unknown, tokenized and max_words as in
                `nmt translate`, n_best and attention.

        Returns:
            One `Translation` for a line, a list of them for a list. With `n_best`, a line has a list of up to `n_best`
            translations instead, best first.

        Raises:
            UserError: a line is not text or has a line break, an option has an invalid value, or the model cannot do
                what an option asks for.
        """
        lines = check_lines("translate", text)
        python_options = validate_settings(PythonOptions, options, "translate")
        translator = self.translator(python_options, python_options.n_best or 1, python_options.attention)
        n_best_lists = translator(lines)

        # with `n_best`, a list of translations for each line; otherwise its best translation
        if python_options.n_best:
            return n_best_lists[0] if isinstance(text, str) else n_best_lists
        translations = [n_best_list[0] for n_best_list in n_best_lists]
        return translations[0] if isinstance(text, str) else translations

    @overload
    def score(  # type: ignore[overload-overlap]  # a string is a sequence of strings
        self, source: str, target: str, *, tokenized: bool = False, attention: bool = True
    ) -> Translation: ...
    @overload
    def score(
        self, source: Sequence[str], target: Sequence[str], *, tokenized: bool = False, attention: bool = True
    ) -> list[Translation]: ...
    def score(
        self,
        source: str | Sequence[str],
        target: str | Sequence[str],
        *,
        tokenized: bool = False,
        attention: bool = True,
    ) -> Translation | list[Translation]:
        """Return the score of a line's given translation, or of each line of a list, as `nmt score` computes it.

        Args:
            source: raw text, one sentence per line.
            target: its translation, with as many lines.
            tokenized: whether both are already tokenized.
            attention: whether the results have the model's attention.

        Returns:
            One `Translation` for a line, a list of them for lists. The `text` of a translation is the line of
            `target`, and its `tokens` may be words that the model reads as [UNK].
        """
        from nmt.decoding.forced_decoding import score_translations
        from nmt.decoding.translator import choose_text_codecs

        # 1. tokenize both texts
        sources, targets = check_lines("score: source", source), check_lines("score: target", target)
        if isinstance(source, str) != isinstance(target, str) or len(sources) != len(targets):
            raise UserError("score: expected a line and its translation, or two lists of equal length")
        source_codec, target_codec = choose_text_codecs(self.text_settings, tokenized)
        pairs = [
            (source_codec.tokenize(source_line), target_codec.tokenize(target_line))
            for source_line, target_line in zip(sources, targets, strict=True)
        ]

        # 2. score each pair of lines as a single piece
        word_scores = score_translations(self.trained_models, pairs, self.batch_size, attention)
        translations = []
        for number, scores in enumerate(word_scores):
            source_tokens, tokens = pairs[number]
            piece_attention = None
            if scores.attention is not None:  # without row and column of the end symbols
                piece_attention = [scores.attention[: len(tokens), : len(source_tokens)]]
            translation = Translation(
                source=sources[number],
                text=targets[number],
                score=scores.log_probability,
                source_tokens=source_tokens,
                tokens=tokens,
                token_scores=scores.word_log_probabilities.tolist(),
                unknown_words=[
                    token for token in source_tokens if token not in self.trained_models[0].source_vocabulary
                ],
                piece_lengths=[len(source_tokens)],
                piece_attention=piece_attention,
            )
            translations.append(translation)
        return translations[0] if isinstance(source, str) else translations


def check_lines(name: str, text: Iterable[str]) -> list[str]:
    """Return the lines of a text, which is a single line or a collection of lines.

    Raises:
        UserError: a line is not a string, or has text after a line break, which would be lost. `name` begins the
            message.
    """
    if not isinstance(text, Iterable):
        raise UserError(f"{name}: found {text!r:.60}, expected a line of text (str), or a list of lines")
    lines = [text] if isinstance(text, str) else list(text)
    for index, line in enumerate(lines):
        location = name if isinstance(text, str) else f"{name}: item {index} of the list"
        if not isinstance(line, str):
            raise UserError(f"{location}: found {line!r:.60}, expected a line of text (str)")
        # a line break with text after it; line breaks at the end, and a carriage return in a line, are allowed
        if "\n" in line.rstrip("\r\n"):
            raise UserError(f"{location}: a text of several lines; pass a list of lines (text.splitlines())")
    return lines


def load(folder: str | Path, *other_folders: str | Path, **options: Any) -> Model:
    """Load a trained model, or several as an ensemble.

    This sets PyTorch's number of threads and its deterministic mode for the whole process. From then on, the process
    keeps the memory that it frees. Models of different precisions may translate at the same time, in threads. But on a
    GPU, the model that was loaded last decides for all models, and for a training in this process, whether matrix
    multiplications in 32 bits are in tf32 or fp32.

    Args:
        folder: the model's folder, such as `models/rnnsearch-50` of an experiment.
        other_folders: folders of further models, which form an ensemble with it.
        options: keys of `nmt.settings.decoding.ComputeOptions`, as in `nmt translate`: device ("cpu", "cuda" or
            "auto"), threads, precision ("fp32", "tf32", "bf16" or "int8"), batch_size.

    Raises:
        UserError: a folder holds no model, the models do not fit together, or an option is not valid.
    """
    folders = [Path(path) for path in (folder, *other_folders)]
    compute = validate_settings(ComputeOptions, options, "nmt.load")
    with os_errors_as_user_error():
        return Model(folders, compute)
