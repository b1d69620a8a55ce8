"""The rules of the demo's grammar, as a random derivation.

The rules write both languages: they append the English of a phrase to the sentence, from left to right, and return its
French, as words with the positions of their English words. No sentence is ambiguous: a rule leaves out what could be
attached in two ways.
"""

import random
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal, TypeVar

from pipeline.grammar import lexicon
from pipeline.grammar.elision import AlignedWord, Links, begins_with_vowel
from pipeline.grammar.lexicon import (
    Adjective,
    Auxiliary,
    Name,
    Noun,
    NounKind,
    PhrasePair,
    Pronoun,
    Verb,
    WordClass,
)
from pipeline.grammar.rare_words import RareWords

Entry = TypeVar("Entry")
French = list[AlignedWord]
"""French words in their order."""
Polarity = Literal["positive", "not", "never"]

RARE_PROBABILITIES: dict[WordClass, float] = {
    "person": 0.09,
    "thing": 0.09,
    "place": 0.09,
    "adjective": 0.09,
    "name": 0.12,
    "city": 0.12,
}
"""How often a word of a class is one of the rare, made-up ones."""


@dataclass(frozen=True)
class Phrase:
    """The French of a noun phrase, with its gender and number."""

    french: French
    feminine: bool
    plural: bool


class Derivation:
    """The derivation of one sentence.

    A method `generate_...` appends English words to the sentence and returns their French, which its docstring names. A
    method `emit_...` appends English words and returns their positions.

    english_end, an argument of many methods: the English position up to which the method may append words. It is a
    goal that a method can miss by a few words.
    """

    def __init__(self, rng: random.Random, rare_words: RareWords) -> None:
        self.rng = rng
        self.rare_words = rare_words
        self.english: list[str] = []

    # --- random choices -------------------------------------------------------

    def with_probability(self, probability: float) -> bool:
        """Return True with this probability."""
        return self.rng.random() < probability

    def choose_entry(self, entries: Sequence[Entry]) -> Entry:
        """Return one of the entries, each with the same probability."""
        return self.rng.choices(entries)[0]

    def chooses_to_add(self, words: int, english_end: int, probability: float) -> bool:
        """Return True with this probability if there is room for so many words, otherwise False."""
        return self.count_free_words(english_end) >= words and self.with_probability(probability)

    def choose_end(self, english_end: int, fraction: float) -> int:
        """Return a position between the next word and this fraction of the way to `english_end`."""
        return len(self.english) + 1 + int(self.rng.random() * fraction * self.count_free_words(english_end))

    def count_free_words(self, english_end: int) -> int:
        """Return the number of words left up to `english_end`."""
        return max(0, english_end - len(self.english))

    # --- English --------------------------------------------------------------

    def emit_english(self, *words: str) -> Links:
        """Append English words to the sentence, and return their positions."""
        start = len(self.english)
        self.english += words
        return tuple(range(start, len(self.english)))

    def generate_word(self, english: str, french: str) -> French:
        """Append an English word, and return the French word that translates it."""
        return [(french, self.emit_english(english))]

    def generate_phrase_pair(self, pairs: Sequence[PhrasePair]) -> French:
        """Choose a phrase pair, append its English, and return its French.

        Words are linked one to one if both languages have the same number of words, else all to all.
        """
        pair = self.choose_entry(pairs)
        links = self.emit_english(*pair.english)
        if len(links) == len(pair.french):
            return [(word, (link,)) for word, link in zip(pair.french, links, strict=True)]
        return [(word, links) for word in pair.french]

    # --- sentences and clauses ------------------------------------------------

    def generate_sentence(self, target_words: int, max_words: int) -> French:
        """Return clauses of about `target_words` English words together; [] if no clause fitted into `max_words`.

        The full stop is not counted.
        """
        opening = self.generate_opening(target_words)
        clauses: French = []
        while not clauses or len(self.english) < target_words:
            clause_words = min(target_words - len(self.english), self.rng.randint(4, 17))
            clause = self.generate_fitting_clause(clause_words, max_words, with_conjunction=bool(clauses))
            if not clause:
                break
            clauses += clause
        return opening + clauses if clauses else []

    def generate_fitting_clause(self, target_words: int, max_words: int, with_conjunction: bool) -> French:
        """Return a clause of about `target_words` English words, with or without a conjunction before it.

        Return [] if in each of three attempts, the sentence would have more than `max_words` with the clause.
        """
        start = len(self.english)
        for _ in range(3):
            conjunction: French = []
            if with_conjunction:
                conjunction = self.generate_phrase_pair(lexicon.CONJUNCTIONS)
            clause = self.generate_clause(len(self.english) + target_words)
            if len(self.english) <= max_words:
                return conjunction + clause

            # too long: remove the words of this attempt
            del self.english[start:]
        return []

    def generate_opening(self, target_words: int) -> French:
        """Return a time or a place before the first clause; [] in most sentences and in all short sentences."""
        if target_words < 9 or self.with_probability(0.75):
            return []
        if self.with_probability(0.5):
            opening = self.generate_time(lexicon.OPENING_ADVERBS)
        else:
            opening = self.generate_location(self.choose_end(8, 1))
        return opening + self.generate_word(",", ",")

    def generate_clause(self, english_end: int) -> French:
        """Return subject and predicate."""
        subject = self.generate_subject(self.choose_end(english_end, 0.6))
        return subject.french + self.generate_predicate(subject, english_end)

    def generate_subject(self, english_end: int) -> Phrase:
        """Return a noun phrase or a pronoun."""
        if self.with_probability(0.12):
            pronoun = self.choose_entry(lexicon.SUBJECT_PRONOUNS)
            french = self.generate_word(pronoun.english, pronoun.french)
            return Phrase(french, pronoun.feminine, pronoun.plural)
        return self.generate_noun_phrase("person", english_end)

    def generate_predicate(self, subject: Phrase, english_end: int) -> French:
        """Return a verb with its complement, then a place and a time if there are words left."""
        french = self.generate_verb_phrase(subject, english_end)
        if self.chooses_to_add(3, english_end, 0.7):
            french += self.generate_location(english_end)
        if self.chooses_to_add(1, english_end, 0.4):
            french += self.generate_time(lexicon.CLOSING_ADVERBS)
        return french

    def generate_time(self, adverbs: Sequence[PhrasePair]) -> French:
        """Return an adverb or a date."""
        if self.with_probability(0.65):
            return self.generate_phrase_pair(adverbs)

        # in French the day comes before the month: "on March 5" is "le 5 mars"
        # these calls are in the order of the English words, the returned words in the order of French
        french_article = self.generate_word("on", "le")
        french_month = self.generate_phrase_pair(lexicon.MONTHS)
        day = self.choose_entry(lexicon.DAYS)
        french_day = self.generate_word(day, day)
        return french_article + french_day + french_month

    def generate_verb_phrase(self, subject: Phrase, english_end: int) -> French:
        """Return a verb with its complement, of a random kind for which there are words left."""
        choice = self.rng.random()
        free_words = self.count_free_words(english_end)

        # the only kind that needs no further word
        if free_words < 2 or choice < 0.1:
            verb = self.choose_entry(lexicon.INTRANSITIVE)
            return self.generate_verb_group(verb, subject, self.choose_polarity())

        # longer kinds; if a kind needs more words than are free, a kind below it takes its place
        if choice < 0.2:
            return self.generate_copula(subject)
        if choice < 0.31 and free_words >= 7:
            return self.generate_report(subject, english_end)
        if choice < 0.45:
            return self.generate_indirect(subject, english_end)
        if choice < 0.6 and free_words >= 4:
            return self.generate_ditransitive(subject, english_end)
        return self.generate_transitive(subject, english_end)

    def generate_report(self, subject: Phrase, english_end: int) -> French:
        """Return a verb with a clause: says that ..."""
        french = self.generate_verb_group(self.choose_entry(lexicon.REPORTING), subject, "positive")
        french += self.generate_word("that", "que")
        return french + self.generate_clause(english_end)

    def generate_indirect(self, subject: Phrase, english_end: int) -> French:
        """Return a verb that takes its object with a preposition."""
        verb = self.choose_entry(lexicon.INDIRECT)
        polarity = self.choose_polarity()

        # "talks to him" is "lui parle": the French pronoun stands for the preposition, too
        if verb.preposition == "à" and self.with_probability(0.3):
            pronoun = self.choose_entry(lexicon.OBJECT_PRONOUNS)
            recipient = PhrasePair((*verb.particle, pronoun.english), (pronoun.dative,))
            bare_verb = replace(verb, particle=(), preposition="")
            return self.generate_verb_group(bare_verb, subject, polarity, clitics=[recipient])

        french = self.generate_verb_group(verb, subject, polarity)
        return french + self.generate_noun_phrase("person", self.choose_end(english_end, 1)).french

    def generate_transitive(self, subject: Phrase, english_end: int) -> French:
        """Return a verb with its direct object. French pronouns move before it, and its participle agrees with them."""
        verb = self.choose_entry(lexicon.TRANSITIVE)
        polarity = self.choose_polarity()

        # a pronoun, which stands behind the English verb: "sees him" is "le voit"
        if self.with_probability(0.12):
            pronoun = self.choose_entry(lexicon.OBJECT_PRONOUNS)
            direct_object = PhrasePair((pronoun.english,), (pronoun.french,))
            return self.generate_verb_group(
                verb, subject, polarity, clitics=[direct_object], preceding_object=pronoun
            )

        # a noun phrase
        french = self.generate_verb_group(verb, subject, polarity)
        kind: NounKind = "person" if self.with_probability(0.35) else "thing"
        object_end = self.choose_end(english_end, 1)
        return french + self.generate_noun_phrase(kind, object_end, negated=polarity != "positive").french

    def generate_ditransitive(self, subject: Phrase, english_end: int) -> French:
        """Return a verb with direct object and recipient, each a noun or a pronoun: les lui donne."""
        verb = self.choose_entry(lexicon.DITRANSITIVE)
        polarity = self.choose_polarity()
        recipient = self.choose_entry(lexicon.OBJECT_PRONOUNS) if self.with_probability(0.55) else None

        # 1. the verb, with the direct object
        if self.with_probability(0.45):
            # gives it to him
            pronoun = self.choose_entry(lexicon.OBJECT_PRONOUNS)
            clitics = [PhrasePair((pronoun.english,), (pronoun.french,))]
            if recipient:
                clitics.append(PhrasePair(("to", recipient.english), (recipient.dative,)))
            french = self.generate_verb_group(verb, subject, polarity, clitics, preceding_object=pronoun)
        else:
            # a pronoun for the recipient comes first: gives him the book
            clitics = [PhrasePair((recipient.english,), (recipient.dative,))] if recipient else []
            french = self.generate_verb_group(verb, subject, polarity, clitics)
            # a recipient that follows needs some of the words
            object_fraction = 1 if recipient else 0.4
            object_end = self.choose_end(english_end, object_fraction)
            french += self.generate_simple_phrase("thing", object_end, negated=polarity != "positive").french

        # 2. the recipient, if it is not a pronoun
        if not recipient:
            french += self.generate_word("to", "à")
            french += self.generate_noun_phrase("person", self.choose_end(english_end, 1)).french
        return french

    def generate_copula(self, subject: Phrase) -> French:
        """Return "être" with an adjective that agrees with the subject."""
        verb = self.generate_word(lexicon.BE.english[subject.plural], lexicon.BE.french[subject.plural])
        polarity = self.choose_polarity()
        french = _negate(verb, polarity, self.emit_negation(polarity))
        if polarity != "never" and self.with_probability(0.25):
            french += self.generate_word("very", "très")
        follows_noun = self.with_probability(0.8)
        adjective: Adjective = (
            self.choose_word("adjective") if follows_noun else self.choose_entry(lexicon.ADJECTIVES_BEFORE)
        )
        form = adjective.french[subject.plural][subject.feminine]
        return french + self.generate_word(adjective.english, form)

    # --- verbs ----------------------------------------------------------------

    def choose_polarity(self) -> Polarity:
        """Return whether and how a verb is negated."""
        choice = self.rng.random()
        if choice < 0.74:
            return "positive"
        return "not" if choice < 0.92 else "never"

    def generate_verb_group(
        self,
        verb: Verb,
        subject: Phrase,
        polarity: Polarity,
        clitics: Sequence[PhrasePair] = (),
        preceding_object: Phrase | Pronoun | None = None,
    ) -> French:
        """Return auxiliary, negation, adverb, verb and object pronouns, in the order of French.

        Args:
            verb: chosen from the lexicon.
            subject: agrees with the finite verb.
            polarity: whether and how the verb is negated.
            clitics: pronouns, which stand behind the English verb, and before the French one.
            preceding_object: a direct object that precedes the French participle. The participle agrees with it.
        """
        # 1. English, from left to right
        choice = self.rng.random()
        modal = self.choose_entry(lexicon.MODALS) if choice < 0.2 else None
        is_perfect = 0.2 <= choice < 0.45  # no verb has both
        auxiliary = lexicon.HAVE if is_perfect else modal
        auxiliary_links, negation_links = self.emit_auxiliary(auxiliary, subject.plural, polarity)
        french_adverb = self.generate_verb_adverb(polarity)
        third_person, base_form = verb.english  # "sees", "see"
        if is_perfect:
            english_verb = verb.english_participle  # "has seen"
        elif subject.plural or modal or polarity == "not":
            english_verb = base_form  # "they see", "will see", "does not see"
        else:
            english_verb = third_person
        verb_links = self.emit_english(english_verb)
        particle_links = self.emit_english(*verb.particle)
        words_before_verb = []  # a clitic is one French word
        for clitic in clitics:
            words_before_verb.append((clitic.french[0], self.emit_english(*clitic.english)))

        # 2. an English particle is linked to the French preposition, or else to the verb
        if not verb.preposition:
            verb_links = verb_links + particle_links
        complement = [(word, verb_links) for word in verb.complement]
        if verb.preposition:
            complement.append((verb.preposition, particle_links or verb_links))

        # 3. French: the negation encloses the finite verb
        if modal:
            finite_verb = (modal.french[subject.plural], auxiliary_links)
            infinitive = [(verb.infinitive, verb_links)]
            negated_verb = _negate([finite_verb], polarity, negation_links)
            return negated_verb + french_adverb + words_before_verb + infinitive + complement

        if is_perfect:
            french_auxiliary = lexicon.BE if verb.with_be else lexicon.HAVE
            finite_verb = (french_auxiliary.french[subject.plural], auxiliary_links)
            participle = _inflect_participle(verb, subject if verb.with_be else preceding_object)
            complement.insert(0, (participle, verb_links))
        else:
            finite_verb = (verb.french[subject.plural], auxiliary_links + verb_links)
        negated_words = [*words_before_verb, finite_verb]
        return _negate(negated_words, polarity, negation_links) + french_adverb + complement

    def emit_auxiliary(
        self, auxiliary: Auxiliary | None, plural: bool, polarity: Polarity
    ) -> tuple[Links, Links]:
        """Append the English auxiliary and negation, and return the positions of both."""
        if polarity == "not" and auxiliary is lexicon.CAN:
            links = self.emit_english("cannot")
            return links, links
        if polarity == "not" and not auxiliary:
            auxiliary = lexicon.DO
        auxiliary_links = self.emit_english(auxiliary.english[plural]) if auxiliary else ()
        return auxiliary_links, self.emit_negation(polarity)

    def emit_negation(self, polarity: Polarity) -> Links:
        """Append "not" or "never", and return its position; () if there is no negation."""
        return () if polarity == "positive" else self.emit_english(polarity)

    def generate_verb_adverb(self, polarity: Polarity) -> French:
        """Return an adverb that precedes the English verb and follows the French verb; [] for most verbs."""
        if polarity == "never" or self.with_probability(0.82):
            return []
        adverbs = lexicon.VERB_ADVERBS if polarity == "positive" else lexicon.NEGATED_ADVERBS
        return self.generate_phrase_pair(adverbs)

    # --- noun phrases ---------------------------------------------------------

    def generate_noun_phrase(self, kind: NounKind, english_end: int, negated: bool = False) -> Phrase:
        """Return a noun phrase.

        negated: whether it is the object of a negated verb, in which indefinite articles become "de".
        """
        if not negated and self.chooses_to_add(5, english_end, 0.15):
            return self.generate_coordination(kind, english_end)
        if kind == "person" and (self.count_free_words(english_end) < 2 or self.with_probability(0.2)):
            return self.generate_name()

        # a common noun, with a modifier behind it if there are words left
        phrase = self.generate_simple_phrase(kind, english_end, negated)
        if self.chooses_to_add(3, english_end, 0.75):
            phrase.french.extend(self.generate_modifier(kind, phrase, english_end))
        return phrase

    def generate_coordination(self, kind: NounKind, english_end: int) -> Phrase:
        """Return two phrases joined by "et".

        No modifier follows them: it could belong to the second phrase or to both.
        """
        first_phrase = self.generate_simple_phrase(kind, self.choose_end(english_end, 0.6))
        conjunction = self.generate_word("and", "et")
        second_phrase = self.generate_simple_phrase(kind, english_end)
        return Phrase(
            french=first_phrase.french + conjunction + second_phrase.french,
            feminine=first_phrase.feminine and second_phrase.feminine,
            plural=True,
        )

    def generate_name(self) -> Phrase:
        """Return a person's name."""
        name: Name = self.choose_word("name")
        return Phrase(self.generate_word(name.english, name.french), name.feminine, plural=False)

    def generate_simple_phrase(self, kind: NounKind, english_end: int, negated: bool = False) -> Phrase:
        """Return determiner or possessor, adjectives and noun, without modifiers behind."""
        if self.chooses_to_add(3, english_end, 0.12):
            return self.generate_possession(kind, english_end)
        plural = self.with_probability(0.35)
        determiner = self.choose_entry(lexicon.PLURAL_DETERMINERS if plural else lexicon.SINGULAR_DETERMINERS)
        links = self.emit_english(determiner.english)
        noun: Noun = self.choose_word(kind)
        described_noun, has_adjective_before = self.generate_described_noun(noun, kind, plural, english_end)

        # "un" and "des" become "de" under negation, and "des" before an adjective
        article = determiner.french[noun.feminine]
        is_reduced = negated or (plural and has_adjective_before)
        if is_reduced and determiner.english in lexicon.INDEFINITE_DETERMINERS:
            article = ("de",)
        french = [(word, links) for word in article]
        return Phrase(french + described_noun, noun.feminine, plural)

    def generate_possession(self, kind: NounKind, english_end: int) -> Phrase:
        """Return a noun with its possessor: "Alice 's old book" is "le vieux livre de Alice"."""
        # 1. the possessor, which comes first in English: a name or "the" with a noun
        if self.with_probability(0.5):
            possessor = self.generate_name().french
        else:
            person: Noun = self.choose_word("person")
            possessor = self.generate_word("the", "la" if person.feminine else "le")
            possessor += self.generate_word(person.english[0], person.french[0])

        # 2. the possessed noun; 's becomes its article and "de"
        links = self.emit_english("'s")
        plural = self.with_probability(0.35)
        noun: Noun = self.choose_word(kind)
        described_noun, _ = self.generate_described_noun(noun, kind, plural, english_end)
        singular_article = "la" if noun.feminine else "le"
        article = ("les" if plural else singular_article, links)
        french = [article, *described_noun, ("de", links)]
        return Phrase(french + possessor, noun.feminine, plural)

    def generate_described_noun(
        self, noun: Noun, kind: NounKind, plural: bool, english_end: int
    ) -> tuple[French, bool]:
        """Return a noun with adjectives and compound, and whether the French begins with an adjective.

        Most words change sides: a "very strange school book" is a "livre de école très étrange".

        english_end: the English position up to which the phrase may reach.
        """
        adjective_before: French = []
        words_after: French = []

        # 1. an adjective that stands before the French noun, such as "grand"; each step leaves a word for the noun
        if self.chooses_to_add(2, english_end, 0.3):
            adjective: Adjective = self.choose_entry(lexicon.ADJECTIVES_BEFORE)
            form = adjective.french[plural][noun.feminine]
            if not plural and not noun.feminine and begins_with_vowel(noun.french[0]):
                form = adjective.before_vowel
            adjective_before = self.generate_word(adjective.english, form)

        # 2. an adjective that stands behind it, such as "rouge"
        if self.chooses_to_add(2, english_end, 0.4):
            adjective = self.choose_word("adjective")
            if not adjective_before and self.chooses_to_add(3, english_end, 0.15):
                words_after = self.generate_word("very", "très")
            form = adjective.french[plural][noun.feminine]
            words_after += self.generate_word(adjective.english, form)

        # 3. a place: a "school book" is a "livre de école"
        if kind == "thing" and self.chooses_to_add(2, english_end, 0.25):
            place = self.choose_entry(lexicon.PLACES)
            links = self.emit_english(place.english[0])
            words_after = [("de", links), (place.french[0], links), *words_after]

        french_noun = self.generate_word(noun.english[plural], noun.french[plural])
        return adjective_before + french_noun + words_after, bool(adjective_before)

    def generate_modifier(self, kind: NounKind, head: Phrase, english_end: int) -> French:
        """Return a prepositional phrase, a participle or a relative clause that stands behind its noun, the head.

        english_end: the English position up to which the modifier may reach.
        """
        choice = self.rng.random()

        # prepositional phrases: of the king, with the king, in the garden
        if choice < 0.35:
            preposition = self.generate_word("of", "de")
            owner_kind: NounKind = self.choose_entry(("person", "thing"))
            return preposition + self.generate_noun_phrase(owner_kind, english_end).french
        if choice < 0.5 and kind == "person":
            french = self.generate_phrase_pair(lexicon.COMPANY)
            return french + self.generate_noun_phrase("person", english_end).french
        if choice < 0.65 or self.count_free_words(english_end) < 4:
            return self.generate_location(english_end)

        # with a verb: found by the king, that the king finds
        if choice < 0.75 and kind != "place":
            return self.generate_passive(head, english_end)
        return self.generate_relative_clause(kind, head, english_end)

    def generate_passive(self, head: Phrase, english_end: int) -> French:
        """Return a participle that agrees with the noun before it, the head: the letter found by the king."""
        verb = self.choose_entry([verb for verb in lexicon.TRANSITIVE if not verb.particle])
        participle = self.generate_word(verb.english_participle, _inflect_participle(verb, head))
        preposition = self.generate_word("by", "par")
        return participle + preposition + self.generate_noun_phrase("person", english_end).french

    def generate_relative_clause(self, kind: NounKind, head: Phrase, english_end: int) -> French:
        """Return a relative clause, in which the head is the subject, the direct object or the place."""
        # the place or the subject: the garden where ..., the king who ...
        if kind == "place":
            return self.generate_word("where", "où") + self.generate_clause(english_end)
        if kind == "person" and self.with_probability(0.6):
            return self.generate_word("who", "qui") + self.generate_predicate(head, english_end)

        # the direct object, with which the French participle agrees: la lettre que le roi a trouvée
        relative_pronoun = self.generate_word("that", "que")
        subject = self.generate_noun_phrase("person", self.choose_end(english_end, 0.6))
        verb = self.choose_entry(lexicon.TRANSITIVE)
        polarity = self.choose_polarity()
        verb_group = self.generate_verb_group(verb, subject, polarity, preceding_object=head)
        return relative_pronoun + subject.french + verb_group

    def generate_location(self, english_end: int) -> French:
        """Return a place or a city with its preposition."""
        if self.count_free_words(english_end) < 3 or self.with_probability(0.25):
            french = self.generate_phrase_pair(lexicon.CITY_LOCATIONS)
            city: Name = self.choose_word("city")
            return french + self.generate_word(city.english, city.french)
        french = self.generate_phrase_pair(lexicon.LOCATIONS)
        return french + self.generate_noun_phrase("place", english_end).french

    # --- words ------------------------------------------------------------------

    def choose_word(self, word_class: WordClass) -> Any:
        """Return a word of a class: a rare one with a small probability, if there are any, or else a frequent one."""
        rare_words = self.rare_words[word_class]
        if rare_words.words and self.with_probability(RARE_PROBABILITIES[word_class]):
            return rare_words.sample_word(self.rng)
        return self.choose_entry(lexicon.FREQUENT_WORDS[word_class])


def _inflect_participle(verb: Verb, controller: Phrase | Pronoun | None) -> str:
    """Return a French participle that agrees with a noun or pronoun, the controller.

    Without a controller, the participle is masculine singular.
    """
    participle = verb.participle
    if controller and controller.feminine:
        participle += "e"
    if controller and controller.plural:
        participle += "s"
    return participle


def _negate(verb: French, polarity: Polarity, negation_links: Links) -> French:
    """Return a French verb between "ne" and "pas" or "jamais", which both translate the English negation."""
    if polarity == "positive":
        return verb
    second_word = "pas" if polarity == "not" else "jamais"
    return [("ne", negation_links), *verb, (second_word, negation_links)]
