"""The rules of the demo's grammar, as a random derivation.

The rules say English from left to right. Each rule returns the French of what it said, as words with the positions of
their English words. No sentence is ambiguous: a rule leaves out what could be attached in two ways.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal, TypeVar

from pipeline.grammar import lexicon
from pipeline.grammar.elision import Piece, opens_with_vowel
from pipeline.grammar.lexicon import Adjective, Auxiliary, Kind, Name, Noun, Pairing, Pronoun, Verb
from pipeline.grammar.rare_words import RareWords, Zipf

Entry = TypeVar("Entry")
Polarity = Literal["yes", "not", "never"]

RARE_NOUNS = RARE_ADJECTIVES = 0.09  # shares that the open lexicon has
RARE_NAMES = 0.12
NOUNS: dict[Kind, tuple[Noun, ...]] = {
    "person": lexicon.PERSONS,
    "thing": lexicon.THINGS,
    "place": lexicon.PLACES,
}


@dataclass(frozen=True, slots=True)
class Phrase:
    """The French of a noun phrase, with its gender and number."""

    french: list[Piece]
    feminine: bool
    plural: bool


class Derivation:
    """The derivation of one sentence. `until` is the English position that a rule tries to fill up to."""

    def __init__(self, rng: random.Random, rare: RareWords) -> None:
        self.rng = rng
        self.rare = rare
        self.english: list[str] = []

    # --- chance ---------------------------------------------------------------

    def chance(self, probability: float) -> bool:
        """Return True with this probability."""
        return self.rng.random() < probability

    def pick(self, entries: Sequence[Entry]) -> Entry:
        """Return one of the entries, all as likely."""
        return entries[int(self.rng.random() * len(entries))]

    def part(self, until: int, share: float) -> int:
        """Return a position between here and a share of the way to `until`."""
        return len(self.english) + 1 + int(self.rng.random() * share * self.room(until))

    def room(self, until: int) -> int:
        """Return the number of words left to `until`."""
        return max(0, until - len(self.english))

    # --- English --------------------------------------------------------------

    def say(self, *words: str) -> tuple[int, ...]:
        """Append English words, and return their positions."""
        start = len(self.english)
        self.english += words
        return tuple(range(start, len(self.english)))

    def block(self, pairing: Pairing) -> list[Piece]:
        """Say words that translate as a block: one to one where both sides have as many, else all to all."""
        links = self.say(*pairing.english)
        if len(links) == len(pairing.french):
            return [(word, (link,)) for word, link in zip(pairing.french, links, strict=True)]
        if pairing.english[0] == ",":
            return [(",", links[:1]), *((word, links[1:]) for word in pairing.french[1:])]
        return [(word, links) for word in pairing.french]

    # --- sentences and clauses ------------------------------------------------

    def sentence(self, target: int, limit: int) -> tuple[list[str], list[Piece]]:
        """Return clauses up to about `target` English tokens; no French at all where none fitted into `limit`."""
        french = self.opening(target)
        clauses = 0
        while (length := len(self.english) + 1) < target or not clauses:
            room = min(target - length, self.rng.randint(4, 17))
            addition = self.fitting_clause(room, limit, first=not clauses)
            if not addition:
                break
            french += addition
            clauses += 1
        return self.english, french if clauses else []

    def fitting_clause(self, room: int, limit: int, first: bool) -> list[Piece]:
        """Return a clause after its conjunction; empty, with nothing said, if none tried fits into `limit`."""
        said = len(self.english)
        for _ in range(3):
            connector = [] if first else self.block(self.pick(lexicon.CONJUNCTIONS))
            french = connector + self.clause(len(self.english) + room)
            if len(self.english) + 1 <= limit:
                return french
            del self.english[said:]
        return []

    def opening(self, target: int) -> list[Piece]:
        """Return a time or a place before the first clause, now and then."""
        if target < 10 or self.chance(0.75):
            return []
        time = self.chance(0.5)
        start = self.time(lexicon.OPENING_ADVERBS) if time else self.location(self.part(8, 1))
        return [*start, (",", self.say(","))]

    def clause(self, until: int) -> list[Piece]:
        """Return subject and predicate."""
        subject = self.subject(self.part(until, 0.6))
        return subject.french + self.predicate(subject, until)

    def subject(self, until: int) -> Phrase:
        """Return a noun phrase or a pronoun."""
        if self.chance(0.12):
            pronoun = self.pick(lexicon.SUBJECT_PRONOUNS)
            return Phrase([(pronoun.french, self.say(pronoun.english))], pronoun.feminine, pronoun.plural)
        return self.noun_phrase("person", until)

    def predicate(self, subject: Phrase, until: int) -> list[Piece]:
        """Return a verb with what it takes, then places and times while there is room."""
        french = self.verb_phrase(subject, until)
        if self.room(until) >= 3 and self.chance(0.7):
            french += self.location(until)
        if self.room(until) >= 1 and self.chance(0.4):
            french += self.time(lexicon.CLOSING_ADVERBS)
        return french

    def time(self, adverbs: Sequence[Pairing]) -> list[Piece]:
        """Return an adverb, or a date, whose day comes first in French."""
        if self.chance(0.65):
            return self.block(self.pick(adverbs))
        month, day = self.pick(lexicon.MONTHS), self.pick(lexicon.DAYS)
        on, month_link, day_link = ((link,) for link in self.say("on", *month.english, day))
        return [("le", on), (day, day_link), (month.french[0], month_link)]

    def verb_phrase(self, subject: Phrase, until: int) -> list[Piece]:
        """Return a verb of some kind with its complement."""
        choice = self.rng.random()
        if self.room(until) < 2 or choice < 0.1:
            return self.verb_group(self.pick(lexicon.INTRANSITIVE), subject, self.polarity())
        if choice < 0.2:
            return self.copula(subject)
        if choice < 0.31 and self.room(until) >= 7:
            return self.report(subject, until)
        if choice < 0.45:
            return self.indirect(subject, until)
        if choice < 0.6 and self.room(until) >= 4:
            return self.ditransitive(subject, until)
        return self.transitive(subject, until)

    def report(self, subject: Phrase, until: int) -> list[Piece]:
        """Return a verb with a clause: says that ..."""
        verb = self.verb_group(self.pick(lexicon.REPORTING), subject, "yes")
        return [*verb, ("que", self.say("that")), *self.clause(until)]

    def indirect(self, subject: Phrase, until: int) -> list[Piece]:
        """Return a verb that takes its object with a preposition; for "à" and a pronoun French has a dative."""
        verb, polarity = self.pick(lexicon.INDIRECT), self.polarity()
        if verb.preposition == "à" and self.chance(0.3):
            recipient = self.pick(lexicon.OBJECT_PRONOUNS)
            dative = Pairing((*verb.particle, recipient.english), (recipient.dative,))
            return self.verb_group(replace(verb, particle=(), preposition=""), subject, polarity, (dative,))
        group = self.verb_group(verb, subject, polarity)
        return group + self.noun_phrase("person", self.part(until, 1)).french

    def transitive(self, subject: Phrase, until: int) -> list[Piece]:
        """Return a verb with its direct object. French pronouns move before it, and its participle agrees with them."""
        verb, polarity = self.pick(lexicon.TRANSITIVE), self.polarity()
        if self.chance(0.12):
            pronoun = self.pick(lexicon.OBJECT_PRONOUNS)
            direct = Pairing((pronoun.english,), (pronoun.french,))
            return self.verb_group(verb, subject, polarity, (direct,), agrees=pronoun)
        french = self.verb_group(verb, subject, polarity)
        kind: Kind = "person" if self.chance(0.35) else "thing"
        return french + self.noun_phrase(kind, self.part(until, 1), negated=polarity != "yes").french

    def ditransitive(self, subject: Phrase, until: int) -> list[Piece]:
        """Return a verb with direct object and recipient, either of them a noun or a pronoun: les lui donne."""
        verb, polarity = self.pick(lexicon.DITRANSITIVE), self.polarity()
        recipient = self.pick(lexicon.OBJECT_PRONOUNS) if self.chance(0.55) else None
        if self.chance(0.45):
            thing = self.pick(lexicon.OBJECT_PRONOUNS)
            clitics = [Pairing((thing.english,), (thing.french,))]
            if recipient:
                clitics.append(Pairing(("to", recipient.english), (recipient.dative,)))
            french = self.verb_group(verb, subject, polarity, clitics, agrees=thing)
        else:
            clitics = [Pairing((recipient.english,), (recipient.dative,))] if recipient else []
            french = self.verb_group(verb, subject, polarity, clitics)
            share = 1 if recipient else 0.4
            french += self.simple_phrase("thing", self.part(until, share), polarity != "yes").french
        if recipient:
            return french
        return [*french, ("à", self.say("to")), *self.noun_phrase("person", self.part(until, 1)).french]

    def copula(self, subject: Phrase) -> list[Piece]:
        """Say "to be" with an adjective that agrees with the subject."""
        finite = self.say(lexicon.BE.english[subject.plural])
        polarity = self.polarity()
        mark = self.say(polarity) if polarity != "yes" else ()
        degree = [("très", self.say("very"))] if polarity != "never" and self.chance(0.25) else []
        adjective = self.adjective(after=self.chance(0.8))
        form = adjective.french[subject.plural][subject.feminine]
        verb = (lexicon.BE.french[subject.plural], finite)
        return [*_negated(polarity, [verb], mark), *degree, (form, self.say(adjective.english))]

    # --- verbs ----------------------------------------------------------------

    def polarity(self) -> Polarity:
        """Return whether and how a verb is negated."""
        choice = self.rng.random()
        return "yes" if choice < 0.74 else "not" if choice < 0.92 else "never"

    def verb_group(
        self, verb: Verb, subject: Phrase, polarity: Polarity,
        clitics: Sequence[Pairing] = (), agrees: Phrase | Pronoun | None = None,
    ) -> list[Piece]:  # fmt: skip
        """Say auxiliary, negation, adverb, verb, particle and object pronouns, in the order of each language.

        `clitics`: what English says behind the verb and French before it; `agrees`: the direct object where it
        precedes the French participle, which then takes its gender and number.
        """
        modal, perfect = self.tense()
        auxiliary, mark = self.auxiliary(
            modal or (lexicon.HAVE if perfect else None), subject.plural, polarity
        )
        adverb = self.verb_adverb(polarity)
        bare = subject.plural or modal is not None or polarity == "not"
        main = self.say(verb.english_participle if perfect else verb.english[bare])
        particle = self.say(*verb.particle)
        pronouns = [(clitic.french[0], self.say(*clitic.english)) for clitic in clitics]
        lexical = main if verb.preposition else main + particle
        rest: list[Piece] = [(word, main) for word in verb.complement]
        if verb.preposition:
            rest.append((verb.preposition, particle or main))
        if perfect:
            have = lexicon.BE if verb.with_be else lexicon.HAVE
            finite: Piece = (have.french[subject.plural], auxiliary)
            participle = _participle(verb, subject if verb.with_be else agrees)
            return [*_negated(polarity, [*pronouns, finite], mark), *adverb, (participle, lexical), *rest]
        if modal is None:
            finite = (verb.french[subject.plural], auxiliary + lexical)
            return [*_negated(polarity, [*pronouns, finite], mark), *adverb, *rest]
        finite = (modal.french[subject.plural], auxiliary)
        return [*_negated(polarity, [finite], mark), *adverb, *pronouns, (verb.infinitive, lexical), *rest]

    def tense(self) -> tuple[Auxiliary | None, bool]:
        """Return a modal or none, and whether the verb is in the perfect."""
        choice = self.rng.random()
        modal = self.pick(lexicon.MODALS) if choice < 0.2 else None
        return modal, 0.2 <= choice < 0.45

    def auxiliary(
        self, word: Auxiliary | None, plural: bool, polarity: Polarity
    ) -> tuple[tuple[int, ...], tuple[int, ...]]:
        """Say the auxiliary or "do" and the negation. Return the positions of each."""
        if word and polarity == "not" and word.english[0] == "can":
            cannot = self.say("cannot")
            return cannot, cannot
        do = ("do" if plural else "does") if polarity == "not" else None
        form = word.english[plural] if word else do
        said = self.say(form) if form else ()
        return said, self.say(polarity) if polarity != "yes" else ()

    def verb_adverb(self, polarity: Polarity) -> list[Piece]:
        """Return an adverb that precedes the English verb and follows the French one."""
        if polarity == "never" or self.chance(0.82):
            return []
        return self.block(self.pick(lexicon.VERB_ADVERBS if polarity == "yes" else lexicon.NEGATED_ADVERBS))

    # --- noun phrases ---------------------------------------------------------

    def noun_phrase(self, kind: Kind, until: int, negated: bool = False) -> Phrase:
        """Say a noun phrase. With `negated`, it is the object of a negated verb: indefinite articles become "de"."""
        if not negated and self.room(until) >= 5 and self.chance(0.15):
            return self.coordination(kind, until)
        if kind == "person" and (self.room(until) < 2 or self.chance(0.2)):
            return self.name()
        phrase = self.simple_phrase(kind, until, negated)
        if self.room(until) >= 3 and self.chance(0.75):
            phrase.french.extend(self.modifier(kind, phrase, until))
        return phrase

    def coordination(self, kind: Kind, until: int) -> Phrase:
        """Return two phrases without modifiers: with them it would be open what agrees with what."""
        first = self.simple_phrase(kind, self.part(until, 0.6))
        conjunction = ("et", self.say("and"))
        second = self.simple_phrase(kind, until)
        return Phrase([*first.french, conjunction, *second.french], first.feminine and second.feminine, True)

    def name(self) -> Phrase:
        """Return a person's name."""
        name = self.person_name()
        return Phrase([(name.french, self.say(name.english))], name.feminine, False)

    def simple_phrase(self, kind: Kind, until: int, negated: bool = False) -> Phrase:
        """Return determiner or possessor, adjectives and noun, without modifiers behind."""
        if self.room(until) >= 3 and self.chance(0.12):
            return self.possession(kind, until)
        plural = self.chance(0.35)
        determiner = self.pick(lexicon.PLURAL_DETERMINERS if plural else lexicon.SINGULAR_DETERMINERS)
        link = self.say(determiner.english)
        noun, french, preceded = self.described_noun(kind, plural, until)
        article = _article(determiner, noun, negated or (plural and preceded))
        return Phrase([*((word, link) for word in article), *french], noun.feminine, plural)

    def possession(self, kind: Kind, until: int) -> Phrase:
        """Say a possessor, as in Alice's old book. In French it moves behind, and 's becomes article and "de"."""
        if self.chance(0.5):
            owner = self.name()
        else:
            link, noun = self.say(lexicon.DEFINITE.english), self.noun("person")
            article = [(word, link) for word in lexicon.DEFINITE.french[noun.feminine]]
            owner = Phrase([*article, (noun.french[0], self.say(noun.english[0]))], noun.feminine, False)
        link = self.say("'s")
        plural = self.chance(0.35)
        noun, french, _ = self.described_noun(kind, plural, until)
        article = [("les" if plural else "la" if noun.feminine else "le", link)]
        return Phrase([*article, *french, ("de", link), *owner.french], noun.feminine, plural)

    def described_noun(self, kind: Kind, plural: bool, until: int) -> tuple[Noun, list[Piece], bool]:
        """Say adjectives, compound and noun. Return the noun, its French, and whether an adjective comes first there.

        A very strange school book turns round in French: un livre d'école très étrange.
        """
        room, noun = self.room(until), self.noun(kind)
        before = self.adjective(after=False) if room >= 2 and self.chance(0.3) else None
        first = self.say(before.english) if before else ()
        behind: list[Piece] = []
        if room >= 2 + (before is not None) and self.chance(0.4):
            after = self.adjective(after=True)
            degree = [("très", self.say("very"))] if not before and room >= 3 and self.chance(0.15) else []
            behind = [*degree, (after.french[plural][noun.feminine], self.say(after.english))]
        if kind == "thing" and self.room(until) >= 2 and self.chance(0.25):
            place = self.pick(lexicon.PLACES)
            link = self.say(place.english[0])
            behind = [("de", link), (place.french[0], link), *behind]
        french = [(noun.french[plural], self.say(noun.english[plural])), *behind]
        if before:
            vowel = not plural and not noun.feminine and opens_with_vowel(noun.french[0])
            form = before.before_vowel if vowel else before.french[plural][noun.feminine]
            french.insert(0, (form, first))
        return noun, french, before is not None

    def modifier(self, kind: Kind, head: Phrase, until: int) -> list[Piece]:
        """Return a prepositional phrase or a relative clause behind its noun."""
        choice = self.rng.random()
        if choice < 0.35:
            return [("de", self.say("of")), *self.noun_phrase(self.pick(("person", "thing")), until).french]
        if choice < 0.5 and kind == "person":
            return self.block(self.pick(lexicon.COMPANY)) + self.noun_phrase("person", until).french
        if choice < 0.65 or self.room(until) < 4:
            return self.location(until)
        if choice < 0.75 and kind != "place":
            return self.passive(head, until)
        return self.relative(kind, head, until)

    def passive(self, head: Phrase, until: int) -> list[Piece]:
        """Return a participle that agrees with the noun before it: the letter found by the king."""
        verb = self.pick([verb for verb in lexicon.TRANSITIVE if not verb.particle])
        participle = (_participle(verb, head), self.say(verb.english_participle))
        return [participle, ("par", self.say("by")), *self.noun_phrase("person", until).french]

    def relative(self, kind: Kind, head: Phrase, until: int) -> list[Piece]:
        """Return a relative clause: its noun is subject, direct object or place in it."""
        if kind == "place":
            return [("où", self.say("where")), *self.clause(until)]
        if kind == "person" and self.chance(0.6):
            return [("qui", self.say("who")), *self.predicate(head, until)]
        link = self.say("that")
        subject = self.noun_phrase("person", self.part(until, 0.6))
        verb = self.verb_group(self.pick(lexicon.TRANSITIVE), subject, self.polarity(), agrees=head)
        return [("que", link), *subject.french, *verb]

    def location(self, until: int) -> list[Piece]:
        """Return a place with its preposition; cities take others."""
        if self.room(until) < 3 or self.chance(0.25):
            preposition = self.block(self.pick(lexicon.CITY_LOCATIONS))
            name = self.city_name()
            return [*preposition, (name.french, self.say(name.english))]
        return self.block(self.pick(lexicon.LOCATIONS)) + self.noun_phrase("place", until).french

    # --- words ------------------------------------------------------------------

    def word(self, rare_share: float, rare: Zipf[Entry], frequent: Sequence[Entry]) -> Entry:
        """Return one of the frequent words, all as likely, or now and then one of the open lexicon."""
        return rare.draw(self.rng) if rare and self.chance(rare_share) else self.pick(frequent)

    def noun(self, kind: Kind) -> Noun:
        """Return a noun of a kind."""
        return self.word(RARE_NOUNS, self.rare.nouns[kind], NOUNS[kind])

    def person_name(self) -> Name:
        """Return a person's name."""
        return self.word(RARE_NAMES, self.rare.people, lexicon.PEOPLE)

    def city_name(self) -> Name:
        """Return a city."""
        return self.word(RARE_NAMES, self.rare.cities, lexicon.CITIES)

    def adjective(self, after: bool) -> Adjective:
        """Return an adjective that stands before or `after` its French noun."""
        if not after:
            return self.pick(lexicon.ADJECTIVES_BEFORE)
        return self.word(RARE_ADJECTIVES, self.rare.adjectives, lexicon.ADJECTIVES_AFTER)


def _article(determiner: lexicon.Determiner, noun: Noun, reduced: bool) -> tuple[str, ...]:
    return ("de",) if reduced and determiner.indefinite else determiner.french[noun.feminine]


def _participle(verb: Verb, agrees: Phrase | Pronoun | None) -> str:
    ending = ("e" if agrees.feminine else "") + ("s" if agrees.plural else "") if agrees else ""
    return verb.participle + ending


def _negated(polarity: Polarity, verb: list[Piece], mark: tuple[int, ...]) -> list[Piece]:
    if polarity == "yes":
        return verb
    return [("ne", mark), *verb, ("pas" if polarity == "not" else "jamais", mark)]
