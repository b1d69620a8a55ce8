"""The demo's grammar: French as it must be, alignments over Moses' tokens, splits that share nothing."""

from __future__ import annotations

import json
import os
import random
import subprocess
import sys
from collections import Counter
from functools import cache
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sacremoses import MosesTokenizer

from nmt.io.text_files import read_lines, read_pairs
from pipeline.config.catalogue import GrammarSettings
from pipeline.grammar import lexicon
from pipeline.grammar.corpus import sentence_pairs, split_of
from pipeline.grammar.elision import join_words, opens_with_vowel
from pipeline.grammar.grammar import Grammar, SentencePair
from pipeline.grammar.rare_words import RareWords, Zipf

DEMO = GrammarSettings(seed=1, max_words=60, lexicon=4000, zipf_exponent=1.0)
NOUNS = (*lexicon.PERSONS, *lexicon.THINGS, *lexicon.PLACES)
ENGLISH, FRENCH = MosesTokenizer("en"), MosesTokenizer("fr")


@cache
def sample(split: str = "train", count: int = 6000) -> list[SentencePair]:
    return list(sentence_pairs(DEMO, split, count))  # type: ignore[arg-type]


def french_of(*words: str) -> list[str]:
    return [word for word, _ in join_words([(word, ()) for word in words])]


# --- sounds -------------------------------------------------------------------


@pytest.mark.parametrize(
    ("parts", "expected"),
    [
        ("le homme", "l' homme"),
        ("le héros", "le héros"),
        ("de le jardin", "du jardin"),
        ("de le homme", "de l' homme"),
        ("de les amis", "des amis"),
        ("à le roi", "au roi"),
        ("à les reines", "aux reines"),
        ("à la école", "à l' école"),
        ("près de des arbres", "près d' arbres"),
        ("de beaucoup de enfants", "de beaucoup d' enfants"),
        ("ce oiseau", "cet oiseau"),
        ("sa image", "son image"),
        ("si il", "s' il"),
        ("si Alice", "si Alice"),
        ("parce que elle ne a pas", "parce qu' elle n' a pas"),
        ("ne la attend pas", "ne l' attend pas"),
    ],
)
def test_words_meet_as_in_french(parts: str, expected: str) -> None:
    assert " ".join(french_of(*parts.split())) == expected


def test_contraction_keeps_the_links_of_both_words() -> None:
    assert join_words([("de", (3,)), ("le", (4,)), ("roi", (5,))]) == [("du", (3, 4)), ("roi", (5,))]


def test_no_vowel_meets_an_unelided_word() -> None:
    elided = {"le", "la", "de", "que", "ne", "ce", "sa", "du", "au"}
    for pair in sample():
        for word, following in zip(pair.french, pair.french[1:], strict=False):
            if opens_with_vowel(following):
                assert word.lower() not in elided, (word, following)
            elif word.endswith("'"):
                assert word == "aujourd'" or following == "hui", (word, following)


def test_adjectives_have_their_form_before_a_masculine_vowel() -> None:
    singular, seen = {"un", "le", "ce", "son", "leur", "chaque"}, Counter[str]()
    for pair in sample():
        for left, word, right in zip(pair.french, pair.french[1:], pair.french[2:], strict=False):
            if left in singular and word in {"vieux", "vieil", "beau", "bel", "nouveau", "nouvel"}:
                assert opens_with_vowel(right) == word.endswith("l"), (left, word, right)
                seen[word] += 1
    assert len(seen) == 6


# --- agreement and order ------------------------------------------------------


def noun_forms() -> dict[str, set[tuple[bool, bool]]]:
    forms: dict[str, set[tuple[bool, bool]]] = {}
    for noun in NOUNS:
        for plural in (False, True):
            forms.setdefault(noun.french[plural], set()).add((plural, noun.feminine))
    return forms


def adjective_forms(adjectives: tuple[lexicon.Adjective, ...]) -> dict[str, set[tuple[bool, bool]]]:
    forms: dict[str, set[tuple[bool, bool]]] = {}
    for adjective in adjectives:
        for plural in (False, True):
            for feminine in (False, True):
                forms.setdefault(adjective.french[plural][feminine], set()).add((plural, feminine))
        forms.setdefault(adjective.before_vowel, set()).add((False, False))
    return forms


def compound_words(pair: SentencePair) -> set[int]:
    """French positions of what an English noun before a noun becomes: "d'école" of the school book."""
    english = Counter(i for i, _ in pair.links)
    places = {noun.english[0] for noun in lexicon.PLACES}
    return {j for i, j in pair.links if english[i] == 2 and pair.english[i] in places}


def test_adjectives_agree_with_the_noun_beside_them() -> None:
    nouns = noun_forms()
    before, after = adjective_forms(lexicon.ADJECTIVES_BEFORE), adjective_forms(lexicon.ADJECTIVES_AFTER)
    seen: Counter[str] = Counter()
    for pair in sample():
        compounds = compound_words(pair)
        for position, (left, right) in enumerate(zip(pair.french, pair.french[1:], strict=False)):
            if left in before and right in nouns:
                seen["before"] += 1
                assert before[left] & nouns[right], (left, right)
            if left in nouns and right in after and position not in compounds:
                seen["after"] += 1
                assert nouns[left] & after[right], (left, right)
            assert not (left in after and right in nouns), (left, right)
            assert not (left in nouns and right in before), (left, right)
    assert min(seen.values()) > 500


def test_english_adjectives_stand_before_their_nouns() -> None:
    nouns = {f for noun in NOUNS for f in noun.english}
    adjectives = {adjective.english for adjective in (*lexicon.ADJECTIVES_BEFORE, *lexicon.ADJECTIVES_AFTER)}
    for pair in sample():
        for left, right in zip(pair.english, pair.english[1:], strict=False):
            assert not (left in nouns and right in adjectives), (left, right)


DETERMINERS = {
    "un": (False, False), "une": (False, True), "ce": (False, False), "cet": (False, False),
    "cette": (False, True), "du": (False, False), "au": (False, False), "chaque": (False, None),
    "leur": (False, None), "des": (True, None), "les": (True, None), "aux": (True, None), "ces": (True, None),
    "ses": (True, None), "leurs": (True, None), "deux": (True, None), "trois": (True, None),
    "l'": (False, None), "le": (False, False), "la": (False, True),
}  # fmt: skip


def test_determiners_agree_with_their_nouns() -> None:
    nouns, checked = noun_forms(), 0
    for pair in sample():
        for left, right in zip(pair.french, pair.french[1:], strict=False):
            if left in DETERMINERS and right in nouns:
                plural, feminine = DETERMINERS[left]
                checked += 1
                assert any(p == plural and feminine in (None, f) for p, f in nouns[right]), (left, right)
    assert checked > 5000


def test_verbs_agree_with_names_and_pronouns_before_them() -> None:
    singular = {"Anna", "Paul", "Il", "Elle", "il", "elle"}
    verbs = (*lexicon.TRANSITIVE, *lexicon.INTRANSITIVE, lexicon.BE)
    plural_forms = {verb.french[1] for verb in verbs}
    singular_forms = {verb.french[0] for verb in verbs}
    checked = 0
    for pair in sample():
        for before, left, right in zip([".", *pair.french], pair.french, pair.french[1:], strict=False):
            if before in {".", ",", "que", "qu'", "quand", "si", "s'"}:
                checked += left in singular and right in singular_forms
                assert not (left in singular and right in plural_forms), (left, right)
                assert not (left in {"Ils", "ils"} and right in singular_forms), (left, right)
    assert checked > 300


def test_negation_wraps_the_verb_and_its_clitic() -> None:
    forms = {verb.english[1]: verb.french for verb in lexicon.TRANSITIVE if not verb.particle}
    checked = 0
    for pair in sample():
        for position in range(1, len(pair.english) - 3):
            auxiliary, mark, verb, pronoun = pair.english[position : position + 4]
            if mark == "not" and pronoun == "them" and auxiliary in {"do", "does"} and verb in forms:
                ne, pas = (j for i, j in pair.links if i == position + 1)
                finite = forms[verb][auxiliary == "do"]
                assert pair.french[ne : pas + 1] == ["ne", "les", finite, "pas"], pair.french_text()
                checked += 1
    assert checked > 10


def test_negated_indefinite_objects_take_de() -> None:
    for pair in sample():
        for position, (left, right) in enumerate(zip(pair.french, pair.french[1:], strict=False)):
            if left in {"pas", "jamais"} and right in {"un", "une", "des"}:
                english = {pair.english[i] for i, j in pair.links if j == position + 1}
                assert not english & {"a", "an", "some"}, pair.french_text()


def phrases(pair: SentencePair, *wanted: set[str]) -> list[tuple[list[str], list[str], list[int]]]:
    """Where English has words of these sets in a row: the words, all French linked to them, and its positions."""
    found = []
    for start in range(len(pair.english) - len(wanted) + 1):
        words = pair.english[start : start + len(wanted)]
        if all(word in choice for word, choice in zip(words, wanted, strict=True)):
            at = sorted({j for i, j in pair.links if start <= i < start + len(wanted)})
            found.append((words, [pair.french[j] for j in at], at))
    return found


DIRECT = {"him": "le", "her": "la", "them": "les"}
DATIVE = {"him": "lui", "her": "lui", "them": "leur"}
ENDINGS = {"him": "", "her": "e", "them": "s"}


def test_two_object_pronouns_stand_before_the_verb_direct_first() -> None:
    verbs = {verb.english[0]: verb.french[0] for verb in lexicon.DITRANSITIVE}
    checked = 0
    for pair in sample():
        for words, french, at in phrases(pair, set(verbs), set(DIRECT), {"to"}, set(DATIVE)):
            assert french == [DIRECT[words[1]], DATIVE[words[3]], verbs[words[0]]], pair.french_text()
            assert at == list(range(at[0], at[0] + 3))
            checked += 1
    assert checked > 20


def test_a_dative_moves_before_the_verb_and_leaves_the_object_behind() -> None:
    verbs = {verb.english[0]: verb.french[0] for verb in lexicon.DITRANSITIVE}
    articles = {determiner.english for determiner in lexicon.SINGULAR_DETERMINERS} - {"his", "a"}
    checked = 0
    for pair in sample():
        for words, french, at in phrases(pair, set(verbs), set(DATIVE), articles):
            assert french[:2] == [DATIVE[words[1]], verbs[words[0]]], pair.french_text()
            assert at[1] == at[0] + 1
            checked += 1
    assert checked > 20


def test_participles_agree_with_the_direct_object_only_where_it_precedes() -> None:
    participles = {
        verb.english_participle: verb.participle for verb in lexicon.TRANSITIVE if not verb.particle
    }
    have, verbs, names = {"has", "have"}, set(participles), {name.english for name in lexicon.PEOPLE}
    nouns = {n.english[p]: "e" * n.feminine + "s" * p for n in NOUNS for p in (0, 1) if n.kind != "place"}
    seen: Counter[str] = Counter()
    for pair in sample():
        for words, french, _ in phrases(pair, have, verbs, set(DIRECT)):
            assert french[-1] == participles[words[1]] + ENDINGS[words[2]], pair.french_text()
            seen[words[2]] += 1
        for words, french, _ in phrases(pair, have, verbs, {"the", "some", "Clara"}):
            assert french[1] == participles[words[1]], pair.french_text()
            seen["behind"] += 1
        for words, french, _ in phrases(pair, set(nouns), {"that"}, names, have, verbs):
            assert french[-1] == participles[words[4]] + nouns[words[0]], pair.french_text()
            seen["relative"] += 1
        for words, french, _ in phrases(pair, set(nouns), verbs, {"by"}):
            assert french[-2:] == [participles[words[1]] + nouns[words[0]], "par"], pair.french_text()
            seen["passive"] += 1
    assert len(seen) == 6, seen


def test_arriving_takes_to_be_and_agrees_with_the_subject() -> None:
    subjects = {"she": "est arrivée", "he": "est arrivé", "they": "sont arrivés", "Emma": "est arrivée"}
    seen = set()
    for pair in sample():
        for words, french, _ in phrases(pair, set(subjects), {"has", "have"}, {"arrived"}):
            assert " ".join(french[-2:]) == subjects[words[0]], pair.french_text()
            seen.add(words[0])
    assert len(seen) == len(subjects)


def test_compounds_turn_round_with_their_adjectives() -> None:
    places = {noun.english[0]: noun.french[0] for noun in lexicon.PLACES}
    things = {noun.english[0]: noun for noun in lexicon.THINGS}
    adjectives = {adjective.english: adjective for adjective in lexicon.ADJECTIVES_AFTER}
    checked = 0
    for pair in sample():
        for words, french, _ in phrases(pair, set(adjectives), set(places), set(things)):
            adjective, place, noun = adjectives[words[0]], places[words[1]], things[words[2]]
            de = "d'" if opens_with_vowel(place) else "de"
            expected = [noun.french[0], de, place, adjective.french[0][noun.feminine]]
            assert french == expected, pair.french_text()
            checked += 1
    assert checked > 50


def test_very_moves_with_its_adjective_and_days_before_their_months() -> None:
    adjectives = {adjective.english for adjective in lexicon.ADJECTIVES_AFTER}
    people = {noun.english[0] for noun in lexicon.PERSONS}
    months = {month.english[0]: month.french[0] for month in lexicon.MONTHS}
    seen: Counter[str] = Counter()
    for pair in sample():
        for _, french, at in phrases(pair, {"very"}, adjectives, people):
            assert french[1] == "très" and at == list(range(at[0], at[0] + 3)), pair.french_text()
            seen["very"] += 1
        for words, french, _ in phrases(pair, {"on"}, set(months), set(lexicon.DAYS)):
            assert french == ["le", words[2], months[words[1]]], pair.french_text()
            seen["date"] += 1
    assert min(seen["very"], seen["date"]) > 50


def test_english_articles_fit_the_next_word() -> None:
    for pair in sample():
        for left, right in zip(pair.english, pair.english[1:], strict=False):
            if left.lower() in {"a", "an"}:
                assert (left.lower() == "an") == (right[0] in "aeiou"), (left, right)


# --- alignments and tokens ----------------------------------------------------


def test_every_french_word_is_linked_and_every_english_word_too() -> None:
    for pair in sample():
        assert {j for _, j in pair.links} == set(range(len(pair.french)))
        assert {i for i, _ in pair.links} == set(range(len(pair.english)))
        assert pair.links == sorted(set(pair.links))


def test_links_join_translations() -> None:
    translations = {n.english[p]: n.french[p] for n in (*lexicon.PERSONS, *lexicon.PLACES) for p in (0, 1)}
    translations |= {name.english: name.french for name in lexicon.PEOPLE}
    for pair in sample():
        for position, word in enumerate(pair.english):
            if position and word in translations:
                linked = [pair.french[j] for i, j in pair.links if i == position]
                if linked[0] in {"de", "d'"}:  # a compound
                    del linked[0]
                assert [form[0].lower() + form[1:] for form in linked] == [
                    translations[word][0].lower() + translations[word][1:]
                ]


def test_alignments_are_mostly_one_to_one_but_neither_monotone_nor_diagonal() -> None:
    links = one_to_one = crossing = 0
    for pair in sample()[:2000]:
        sources, targets = Counter(i for i, _ in pair.links), Counter(j for _, j in pair.links)
        links += len(pair.links)
        one_to_one += sum(sources[i] == targets[j] == 1 for i, j in pair.links)
        crossing += sum(a[1] > b[1] for a, b in zip(pair.links, pair.links[1:], strict=False))
    assert 0.6 < one_to_one / links < 0.95
    assert crossing / links > 0.1


@settings(max_examples=60)
@given(seed=st.integers(0, 10_000), size=st.integers(1, 3000), draw=st.integers(0, 10_000))
def test_text_tokenizes_to_the_tokens_of_the_alignment(seed: int, size: int, draw: int) -> None:
    grammar = Grammar(GrammarSettings(seed=seed, max_words=60, lexicon=size, zipf_exponent=0.3))
    rng = random.Random(draw)
    for _ in range(10):
        pair = grammar.sentence(rng)
        for tokenizer, tokens, text in (
            (ENGLISH, pair.english, pair.english_text()),
            (FRENCH, pair.french, pair.french_text()),
        ):
            assert tokenizer.tokenize(text, escape=True) == [t.replace("'", "&apos;") for t in tokens]
        assert text[0].isupper() and text.endswith(".") and "  " not in text and " '" not in text


def test_one_english_sentence_has_one_french_one_and_one_alignment() -> None:
    short = GrammarSettings(seed=3, max_words=12, lexicon=1, zipf_exponent=1.0)
    grammar, rng = Grammar(short), random.Random(5)
    translations: dict[str, tuple[str, str]] = {}
    repeated = 0
    for _ in range(40_000):
        pair = grammar.sentence(rng)
        translation = pair.french_text(), pair.pharaoh()
        repeated += pair.english_text() in translations
        assert translations.setdefault(pair.english_text(), translation) == translation, pair.english_text()
    assert repeated > 1000


# --- the lexicon --------------------------------------------------------------


def test_larger_lexicon_begins_with_the_smaller() -> None:
    small, large = RareWords(50, 1.0, seed=4), RareWords(5000, 1.0, seed=4)
    for kind in ("person", "thing", "place"):
        count = len(small.nouns[kind])
        assert large.nouns[kind]._entries[:count] == small.nouns[kind]._entries


def test_words_of_the_open_lexicon_are_distinct() -> None:
    rare = RareWords(4000, 1.0, seed=2)
    forms: list[str] = []
    for nouns in rare.nouns.values():
        forms += [form for noun in nouns._entries for form in set(noun.english)]
    forms += [name.english.lower() for zipf in (rare.people, rare.cities) for name in zipf._entries]
    forms += [adjective.english for adjective in rare.adjectives._entries]
    assert len(forms) == len(set(forms)) > 4000


def test_zipf_frequencies() -> None:
    zipf, rng = Zipf("abcdefgh", 1.0), random.Random(1)
    counts = Counter(zipf.draw(rng) for _ in range(40_000))
    assert counts["a"] / counts["b"] == pytest.approx(2, rel=0.1)
    assert counts["a"] / counts["h"] == pytest.approx(8, rel=0.15)


def test_frequent_words_carry_most_sentences_but_not_all() -> None:
    english = Counter(word for pair in sample() for word in pair.english)
    french = Counter(word for pair in sample() for word in pair.french)
    vocabulary = {word for counts in (english, french) for word, _ in counts.most_common(430)}
    known = [vocabulary.issuperset(pair.english + pair.french) for pair in sample("test", 1000)]
    assert 0.5 <= sum(known) / len(known) <= 0.7
    assert all(name.english in vocabulary for name in lexicon.PEOPLE)


# --- lengths, splits, determinism ---------------------------------------------


def test_lengths_are_broad() -> None:
    lengths = [len(pair.english) for pair in sample()]
    assert max(lengths) == DEMO.max_words
    assert min(lengths) <= 5
    assert 0.4 < sum(length < 25 for length in lengths) / len(lengths) < 0.6
    for start in range(5, 60, 5):
        assert sum(start <= length < start + 5 for length in lengths) / len(lengths) > 0.03, start


@pytest.mark.parametrize("limit", [12, 20, 50])
def test_english_stays_within_the_limit(limit: int) -> None:
    short = GrammarSettings(seed=2, max_words=limit, lexicon=100, zipf_exponent=1.2)
    assert max(len(pair.english) for pair in sentence_pairs(short, "train", 1500)) <= limit


def test_splits_share_no_sentence_and_hold_no_duplicate() -> None:
    splits = "train", "dev", "test"
    english = {split: [pair.english_text() for pair in sample(split, 2000)] for split in splits}
    for split, sentences in english.items():
        assert {split_of(sentence) for sentence in sentences} == {split}
    assert len(set(english["dev"])) == len(set(english["test"])) == 2000
    assert not set(english["train"]) & set(english["test"])
    assert not set(english["dev"]) & set(english["test"])


def test_a_longer_draw_begins_with_the_shorter_and_seeds_differ() -> None:
    texts = [pair.english_text() for pair in sentence_pairs(DEMO, "test", 40)]
    assert texts[:20] == [pair.english_text() for pair in sentence_pairs(DEMO, "test", 20)]
    other = DEMO.model_copy(update={"seed": 2})
    assert not set(texts) & {pair.english_text() for pair in sentence_pairs(other, "test", 40)}


# --- the verb -----------------------------------------------------------------


def generate(
    folder: Path, pairs: int, shards: int, hash_seed: str = "0", **changes: object
) -> subprocess.CompletedProcess[str]:
    settings_json = json.dumps(DEMO.model_dump() | changes)
    command = [
        sys.executable,
        "-m",
        "nmt",
        "data",
        "generate",
        "--settings",
        settings_json,
        "--split",
        "train",
    ]
    command += ["--pairs", str(pairs), "--counts", str(folder / "counts.json")]
    for shard in range(shards):
        for option, extension in (("source", "en"), ("target", "fr"), ("alignment", "align")):
            command += [f"--output-{option}", str(folder / f"{shard}.{extension}.zst")]
    environment = os.environ | {"PYTHONHASHSEED": hash_seed}
    return subprocess.run(command, capture_output=True, text=True, env=environment)


def test_verb_deals_the_same_text_to_any_number_of_shards(tmp_path: Path) -> None:
    one, two = tmp_path / "one", tmp_path / "two"
    assert generate(one, 12_500, 1).returncode == 0
    assert generate(two, 12_500, 2, hash_seed="77").returncode == 0
    for extension in ("en", "fr", "align"):
        whole = list(read_lines(one / f"0.{extension}.zst"))
        assert list(read_lines(two / f"0.{extension}.zst")) == whole[:10_000]
        assert list(read_lines(two / f"1.{extension}.zst")) == whole[10_000:]
    assert (one / "counts.json").read_bytes() == (two / "counts.json").read_bytes()


def test_verb_counts_words_and_repeats_bytes(tmp_path: Path) -> None:
    folders = tmp_path / "a", tmp_path / "b"
    for folder, hash_seed in zip(folders, "12", strict=True):
        assert generate(folder, 200, 1, hash_seed).returncode == 0
    names = sorted(path.name for path in folders[0].iterdir())
    assert names == ["0.align.zst", "0.en.zst", "0.fr.zst", "counts.json"]
    for name in names:
        assert (folders[0] / name).read_bytes() == (folders[1] / name).read_bytes()
    pairs = list(read_pairs(folders[0] / "0.en.zst", folders[0] / "0.fr.zst"))
    assert json.loads((folders[0] / "counts.json").read_text()) == {
        "pairs": 200,
        "source_words": sum(len(english.split()) for english, _ in pairs),
        "target_words": sum(len(french.split()) for _, french in pairs),
    }


def test_verb_refuses_bad_settings_in_one_line_and_leaves_nothing(tmp_path: Path) -> None:
    done = generate(tmp_path, 10, 1, max_words=3)
    assert done.returncode == 2
    assert (
        done.stderr.startswith("nmt: error: --settings: max_words: found 3, expected 12 or more")
        and done.stderr.count("\n") == 1
    )
    assert list(tmp_path.iterdir()) == []
