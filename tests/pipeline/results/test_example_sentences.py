"""The paper's own sentences in a test set."""

from pipeline.results.example_sentences import find_paper_sentences


def test_paper_sentences_are_found_however_they_were_tokenized() -> None:
    opening = "This will change my future with my family"
    line = "&quot; This will change my future with my family , &quot; the man said ."
    sources = [text.split() for text in ("a b", line, "this  will  change", "“This will change")]
    assert find_paper_sentences(sources, [opening, "A B", "no such sentence"]) == [1, 0]
