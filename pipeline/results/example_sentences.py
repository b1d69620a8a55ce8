"""The paper's own example sentences in a test set."""

from collections.abc import Sequence

from pipeline.preparation import matching_key


def find_paper_sentences(sources: Sequence[Sequence[str]], openings: Sequence[str]) -> list[int]:
    """Return for each opening the index of the first source that begins with it, if there is one.

    Only letters and digits are compared, so that it does not matter how a text was tokenized.
    """
    source_keys = [matching_key(" ".join(source)) for source in sources]
    indices = []
    for opening in openings:
        opening_key = matching_key(opening)
        matches = [
            index for index, source_key in enumerate(source_keys) if source_key.startswith(opening_key)
        ]
        indices += matches[:1]
    return indices
