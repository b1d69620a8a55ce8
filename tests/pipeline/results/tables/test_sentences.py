"""Table 3: which sentences it shows, and how."""

from nmt.evaluation.translations import TranslationRecord
from pipeline.config.artifacts import ReportSettings
from pipeline.results.example_sentences import find_paper_sentences, sample_indices
from pipeline.results.papers import PAPERS_FOLDER, SentenceTable, read_paper
from pipeline.results.tables.sentences import SetTexts, make_sentence_table
from tests.report_settings import report_settings

OPENING = "This will change my future with my family"
OWN = "&quot; This will change my future with my family , &quot; the man said ."
LONG = "the house , which " + "very " * 28 + "old [UNK] was , is l&apos; un ."
TABLE = {"kind": "sentences", "title": "Table 3", "groups": [{"openings": ["not there", OPENING]}]}
MODELS = {"rnnencdec-50": "RNNencdec-50", "rnnsearch-50": "RNNsearch-50"}


def test_paper_sentences_are_found_however_they_were_tokenized() -> None:
    sources = [line.split() for line in ("a b", OWN, "this  will  change", "“This will change")]
    assert find_paper_sentences(sources, [OPENING, "A B", "no such sentence"]) == [1, 0]


def test_sampling_depends_on_the_seed() -> None:
    candidates = list(range(40, 50))
    sample = sample_indices(candidates, 5, seed=1)
    assert set(sample) <= set(candidates) and len(set(sample)) == 5
    assert sample == sample_indices(candidates, 5, seed=1) != sample_indices(candidates, 5, seed=2)
    assert len(sample_indices(candidates[:2], 5, seed=1)) == 2


def test_paper_sentence_comes_first() -> None:
    """Of a test set of four sentences one is the paper's own, and two are long."""
    translations: dict[str, list[TranslationRecord]] = {model: [] for model in MODELS}
    for line, source in enumerate(["short .", LONG, OWN, LONG.replace("old", "new")]):
        for model, records in translations.items():
            target = f"l ’ homme {model.upper()} [UNK] . {line} &#124; *"
            records.append(TranslationRecord(line=line, source=source, target=target))
    references = [f"qu&apos; il , le {line} ." for line in range(4)]
    settings = report_settings(MODELS, table3_models=list(MODELS), table3_sentences=3)
    table = make_sentence_table(
        SentenceTable.model_validate(TABLE),
        {"test": SetTexts(references, translations, {})},
        ReportSettings.model_validate(settings),
    )
    lines, texts = list(table.data["line"]), list(table.data["text"])
    assert lines[::4] in ([2, 1, 3], [2, 3, 1])
    assert list(table.data["sentence"][:4]) == ["Source", "Reference", "RNNencdec-50", "RNNsearch-50"]
    assert texts[0] == '"This will change my future with my family," the man said.'
    assert texts[1] == "qu'il, le 2."
    assert texts[3] == "l’homme RNNSEARCH-50 [UNK]. 2 | *"
    origin = "1 of the paper's own sentences, 2 drawn at random (seed 1) from those of 30 words or more"
    assert origin in table.notes[0]


def test_groups_of_both_sets() -> None:
    """Cho et al. (2014b), Table 2."""
    sets = {}
    for set_name, lengths in (("test", (3, 12, 31, 40, 9)), ("dev", (8, 33))):
        records = []
        for line, length in enumerate(lengths):
            if length != 40:  # a sentence with unknown words
                record = TranslationRecord(line=line, source=["mot"] * length, target=[f"{set_name}{line}"])
                records.append(record)
        references = [f"{set_name} reference {line}" for line in range(len(lengths))]
        moses = [f"{set_name} moses {line}" for line in range(len(lengths))]
        sets[set_name] = SetTexts(references, {"m": records}, {"moses": moses})
    spec = read_paper(PAPERS_FOLDER / "cho2014b.yaml").tables["cho2014b_table2"]
    assert isinstance(spec, SentenceTable)
    settings = report_settings({"m": "M", "moses": "Moses"}, table3_models=["m"])
    table = make_sentence_table(spec, sets, ReportSettings.model_validate(settings))

    rows = table.data.to_dict("records")
    sentences = [(row["set"], row["line"]) for row in rows[::4]]
    assert sorted(sentences[:2]) == [("dev", 1), ("test", 2)]  # the long ones
    assert sorted(sentences[2:]) == [("dev", 0), ("test", 0), ("test", 4)]
    for index, (set_name, line) in enumerate(sentences):
        texts = [row["text"] for row in rows[4 * index + 1 : 4 * index + 4]]
        assert texts == [f"{set_name} reference {line}", f"{set_name}{line}", f"{set_name} moses {line}"]
    (note,) = table.notes
    assert "Sentences of the development and the test set without unknown words: 2 drawn at" in note
    assert "from those of 31 words or more, 3 drawn" in note and "1 to 9 words" in note
