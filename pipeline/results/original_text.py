"""The text of a package's sets, recreated from its origin: the project's grammar, or downloaded archives."""

from collections.abc import Sequence
from itertools import chain
from pathlib import Path, PurePosixPath

from nmt.environment import REPOSITORY
from nmt.errors import UserError
from nmt.io.text_files import read_lines
from pipeline.config.job_settings import get_preparation_settings
from pipeline.config.layers import find_layers, load_config
from pipeline.config.schema import Config
from pipeline.download.extraction import Side, extract_corpus
from pipeline.grammar.corpus import write_corpus
from pipeline.preparation import prepare_shard
from pipeline.results.differences import describe_difference
from pipeline.results.inputs import Inputs

MAX_PAIRS = 100_000
"""Maximum number of sentence pairs that the grammar generates."""


class MissingArchiveError(UserError):
    """An archive of a text is missing."""


def make_original_text(inputs: Inputs, set_name: str, folder: Path, archives: Path | None) -> list[Path]:
    """Recreate the text of a set, and return the folders of its corpora: raw text, tokens and gold alignments.

    Args:
        inputs: the package.
        set_name: `test` or `dev`.
        folder: the folder in which they are made, which is empty.
        archives: the folder of the downloaded archives, if there is one.

    Raises:
        UserError: the text cannot be recreated.
        MissingArchiveError: an archive of the text is not in `archives`.
    """
    use = inputs.config.use
    corpus_folders = [folder / corpus for corpus in (use.test if set_name == "test" else use.dev)]
    for corpus_folder in corpus_folders:
        corpus_folder.mkdir()
        _make_corpus(inputs.config, corpus_folder, archives)
    return corpus_folders


def compare_text(inputs: Inputs, set_name: str, corpus_folders: Sequence[Path]) -> list[str]:
    """Return a line for each file of a set's text that differs from the text of `make_original_text`."""
    source, target = inputs.text_files(set_name)
    original_files = {
        source: [folder / "tokens.source" for folder in corpus_folders],
        target: [folder / "tokens.target" for folder in corpus_folders],
    }
    if set_name == "test":
        (folder,) = corpus_folders
        raw_reference = inputs.raw_reference(inputs.config.languages.target)
        original_files[raw_reference] = [folder / "raw.target"]
        original_files[inputs.gold_alignments] = [folder / "gold"]

    # files that do not exist are not compared: some packages have no raw reference, some corpora no gold alignments
    problems = []
    for published_file, files in original_files.items():
        if published_file.is_file() and files[0].is_file():
            original_lines = chain.from_iterable(map(read_lines, files))
            problems += describe_difference(
                published_file,
                read_lines(published_file),
                original_lines,
                message_end="comes from its source",
            )
    return problems


def _make_corpus(config: Config, folder: Path, archives: Path | None) -> None:
    """Make raw text, tokens and gold alignments of a corpus in a folder, which has the name of the corpus.

    config: the settings of a package, which may come from somebody else.
    """
    # corpora and archives of the checkout, which the package must not redefine
    checkout_config = load_config(find_layers(REPOSITORY))
    corpora = config.corpora | checkout_config.corpora
    archives_by_name = config.archives | checkout_config.archives
    config = config.model_copy(update={"corpora": corpora})
    name = folder.name
    corpus = corpora[name]

    raw_source, raw_target = folder / "raw.source", folder / "raw.target"
    counts = folder / "counts.json"
    grammar_corpus = corpus.grammar
    if grammar_corpus:
        # a package from somebody else may ask for a text without end
        if grammar_corpus.pairs > MAX_PAIRS:
            raise UserError(
                f"corpora.{name}.grammar.pairs is {grammar_corpus.pairs:,}; at most {MAX_PAIRS:,} are recreated"
            )
        write_corpus(
            config.grammar,
            grammar_corpus.split,
            grammar_corpus.pairs,
            sources=[raw_source],
            targets=[raw_target],
            alignments=[folder / "gold"],
            counts=counts,
        )
    else:
        sides = {}
        for (side, text), output in zip(corpus.sides.items(), (raw_source, raw_target), strict=True):
            if not text.archive:
                raise MissingArchiveError("it comes from a file of the author's own")
            path = archives_by_name[text.archive].path
            # a package from somebody else must not name a file outside of the folder of archives
            is_inside = ".." not in PurePosixPath(path).parts
            if not (archives and is_inside and (archives / path).is_file()):
                raise MissingArchiveError(f"give --archives, the folder to which {path} was downloaded")
            sides[side] = Side(archives / path, text.member, [output], text.md5)
        extract_corpus(sides, counts, corpus.pairs)

    # tokens, made with the settings of the package
    prepare_shard(
        raw=(raw_source, raw_target),
        settings=get_preparation_settings(config, name),
        tokens=(folder / "tokens.source", folder / "tokens.target"),
        word_counts=(folder / "words.source", folder / "words.target"),
        counts=counts,
    )
