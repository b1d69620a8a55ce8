"""The frequent words of the demo's English-French grammar, with the forms that agreement and word order need.

Tables have one word per row. French forms are written out and not derived, so that irregular forms need no rules.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, Literal, TypeVar

Word = TypeVar("Word")
NounKind = Literal["person", "thing", "place"]
WordClass = NounKind | Literal["name", "city", "adjective"]
"""A class that has rare words. Its adjectives stand behind the French noun."""

Forms = tuple[str, str]
"""The singular and the plural of a word: `forms[plural]`, or the masculine and the feminine: `forms[feminine]`."""


@dataclass(frozen=True)
class Noun:
    """A common noun: forms by number, French gender."""

    english: Forms
    french: Forms
    feminine: bool


@dataclass(frozen=True)
class Name:
    """A proper name of a person or a city, without article."""

    english: str
    french: str
    feminine: bool


@dataclass(frozen=True)
class Adjective:
    """An adjective: French forms by `[plural][feminine]`, and its form before a masculine vowel (un vieil ami)."""

    english: str
    french: tuple[Forms, Forms]
    before_vowel: str


@dataclass(frozen=True)
class Verb:
    """A verb in the third person: present tense by number, past participle, French infinitive.

    particle: stands behind the English verb ("waits for"). complement: stands behind the French verb ("a besoin").
    preposition: joins the French object, if the verb takes an indirect one. with_be: the French perfect has "être",
    and its participle agrees with the subject. French participles are masculine singular.
    """

    english: Forms
    english_participle: str
    particle: tuple[str, ...]
    french: Forms
    infinitive: str
    participle: str
    complement: tuple[str, ...]
    preposition: str
    with_be: bool


@dataclass(frozen=True)
class Auxiliary:
    """To be, to have, to do or a modal in the present tense, third person, by number."""

    english: Forms
    french: Forms


@dataclass(frozen=True)
class Determiner:
    """A determiner of one number, with its French words by gender."""

    english: str
    french: tuple[tuple[str, ...], tuple[str, ...]]


@dataclass(frozen=True)
class PhrasePair:
    """Words that translate each other as a whole: adverbs, prepositions, conjunctions."""

    english: tuple[str, ...]
    french: tuple[str, ...]


@dataclass(frozen=True)
class Pronoun:
    """A personal pronoun of the third person. As an object, `french` is the direct one."""

    english: str
    french: str
    feminine: bool
    plural: bool

    @property
    def dative(self) -> str:
        """Return the indirect object."""
        return "leur" if self.plural else "lui"


def split_rows(table: str) -> list[list[str]]:
    """Return the words of each line of a table."""
    return [line.split() for line in table.strip().split("\n")]


def _split_cells(table: str) -> list[list[tuple[str, ...]]]:
    """Return the words of each cell of a table: "near | près de" has the cells ("near",) and ("près", "de")."""
    rows = []
    for line in table.strip().split("\n"):
        cells = line.split("|")
        rows.append([tuple(cell.split()) for cell in cells])
    return rows


def make_noun(english: str, english_plural: str, french: str, french_plural: str, gender: str) -> Noun:
    """Return the noun of a row of a table."""
    return Noun((english, english_plural), (french, french_plural), feminine=gender == "f")


def make_name(english: str, french: str, gender: str) -> Name:
    """Return the name of a row of a table."""
    return Name(english, french, feminine=gender == "f")


def make_adjective(
    english: str,
    masculine: str,
    feminine: str,
    masculine_plural: str,
    feminine_plural: str,
    before_vowel: str = "",
) -> Adjective:
    """Return the adjective of a row of a table. before_vowel: "" if it is the same as `masculine`."""
    forms = ((masculine, feminine), (masculine_plural, feminine_plural))
    return Adjective(english, forms, before_vowel or masculine)


def _make_pronoun(english: str, french: str, gender: str, number: str) -> Pronoun:
    return Pronoun(english, french, feminine=gender == "f", plural=number == "plural")


def _make_words(make_word: Callable[..., Word], table: str) -> tuple[Word, ...]:
    """Return the word of each row of a table. make_word: the function that has the columns of the table."""
    return tuple(make_word(*cells) for cells in split_rows(table))


_parse_nouns = partial(_make_words, make_noun)
_parse_names = partial(_make_words, make_name)
_parse_adjectives = partial(_make_words, make_adjective)
_parse_pronouns = partial(_make_words, _make_pronoun)


def _parse_verbs(table: str, preposition: str = "", with_be: bool = False) -> tuple[Verb, ...]:
    """Return the verb of each line of a table, which has an English and a French cell.

    English: present singular and plural, participle, particle. French: present singular and plural, infinitive,
    participle, complement.
    """
    verbs = []
    for english_cell, french_cell in _split_cells(table):
        english_singular, english_plural, english_participle, *particle = english_cell
        french_singular, french_plural, infinitive, participle, *complement = french_cell
        verbs.append(
            Verb(
                english=(english_singular, english_plural),
                english_participle=english_participle,
                particle=tuple(particle),
                french=(french_singular, french_plural),
                infinitive=infinitive,
                participle=participle,
                complement=tuple(complement),
                preposition=preposition,
                with_be=with_be,
            )
        )
    return tuple(verbs)


def _parse_determiners(table: str) -> tuple[Determiner, ...]:
    """Return the determiner of each line: English, French masculine, French feminine."""
    return tuple(
        Determiner(english[0], (masculine, feminine)) for english, masculine, feminine in _split_cells(table)
    )


def _parse_phrase_pairs(table: str) -> tuple[PhrasePair, ...]:
    """Return the phrase pair of each line of a table, which has an English and a French cell."""
    return tuple(PhrasePair(english, french) for english, french in _split_cells(table))


PERSONS = _parse_nouns("""
man men homme hommes m
woman women femme femmes f
child children enfant enfants m
king kings roi rois m
queen queens reine reines f
teacher teachers professeur professeurs m
friend friends ami amis m
girl girls fille filles f
boy boys garçon garçons m
dog dogs chien chiens m
cat cats chat chats m
bird birds oiseau oiseaux m
horse horses cheval chevaux m
mouse mice souris souris f
hero heroes héros héros m
actress actresses actrice actrices f
""")

THINGS = _parse_nouns("""
book books livre livres m
letter letters lettre lettres f
tree trees arbre arbres m
flower flowers fleur fleurs f
apple apples pomme pommes f
car cars voiture voitures f
boat boats bateau bateaux m
key keys clé clés f
picture pictures image images f
hat hats chapeau chapeaux m
knife knives couteau couteaux m
clock clocks horloge horloges f
song songs chanson chansons f
story stories histoire histoires f
""")

PLACES = _parse_nouns("""
house houses maison maisons f
garden gardens jardin jardins m
town towns ville villes f
school schools école écoles f
forest forests forêt forêts f
church churches église églises f
market markets marché marchés m
castle castles château châteaux m
street streets rue rues f
hotel hotels hôtel hôtels m
""")

PEOPLE = _parse_names("""
Alice Alice f
Anna Anna f
Clara Clara f
Emma Emma f
Julia Julie f
Peter Pierre m
Paul Paul m
Oscar Oscar m
Martin Martin m
Arthur Arthur m
""")

CITIES = _parse_names("""
Paris Paris m
London Londres m
Geneva Genève f
Vienna Vienne f
Athens Athènes f
Lisbon Lisbonne f
""")

ADJECTIVES_BEFORE = _parse_adjectives("""
big grand grande grands grandes
small petit petite petits petites
old vieux vieille vieux vieilles vieil
beautiful beau belle beaux belles bel
new nouveau nouvelle nouveaux nouvelles nouvel
young jeune jeune jeunes jeunes
""")

ADJECTIVES_AFTER = _parse_adjectives("""
red rouge rouge rouges rouges
blue bleu bleue bleus bleues
black noir noire noirs noires
white blanc blanche blancs blanches
green vert verte verts vertes
happy heureux heureuse heureux heureuses
tired fatigué fatiguée fatigués fatiguées
strange étrange étrange étranges étranges
famous célèbre célèbre célèbres célèbres
expensive cher chère chers chères
""")

FREQUENT_WORDS: dict[WordClass, Sequence[Any]] = {
    "person": PERSONS,
    "thing": THINGS,
    "place": PLACES,
    "name": PEOPLE,
    "city": CITIES,
    "adjective": ADJECTIVES_AFTER,
}

TRANSITIVE = _parse_verbs("""
sees see seen | voit voient voir vu
finds find found | trouve trouvent trouver trouvé
likes like liked | aime aiment aimer aimé
follows follow followed | suit suivent suivre suivi
buys buy bought | achète achètent acheter acheté
sells sell sold | vend vendent vendre vendu
hears hear heard | entend entendent entendre entendu
carries carry carried | porte portent porter porté
draws draw drawn | dessine dessinent dessiner dessiné
loses lose lost | perd perdent perdre perdu
waits wait waited for | attend attendent attendre attendu
looks look looked for | cherche cherchent chercher cherché
listens listen listened to | écoute écoutent écouter écouté
""")

INDIRECT = (
    *_parse_verbs(
        """
talks talk talked to | parle parlent parler parlé
smiles smile smiled at | sourit sourient sourire souri
""",
        preposition="à",
    ),
    *_parse_verbs(
        """
needs need needed | a ont avoir eu besoin
dreams dream dreamed of | rêve rêvent rêver rêvé
""",
        preposition="de",
    ),
)

DITRANSITIVE = _parse_verbs("""
gives give given | donne donnent donner donné
shows show shown | montre montrent montrer montré
sends send sent | envoie envoient envoyer envoyé
""")

INTRANSITIVE = (
    *_parse_verbs("""
sleeps sleep slept | dort dorment dormir dormi
sings sing sung | chante chantent chanter chanté
works work worked | travaille travaillent travailler travaillé
laughs laugh laughed | rit rient rire ri
"""),
    *_parse_verbs("arrives arrive arrived | arrive arrivent arriver arrivé", with_be=True),
)

REPORTING = _parse_verbs("""
says say said | dit disent dire dit
thinks think thought | pense pensent penser pensé
believes believe believed | croit croient croire cru
""")

BE = Auxiliary(("is", "are"), ("est", "sont"))
HAVE = Auxiliary(("has", "have"), ("a", "ont"))
DO = Auxiliary(("does", "do"), ("", ""))  # in negated English verbs alone
CAN = Auxiliary(("can", "can"), ("peut", "peuvent"))
MODALS = (
    Auxiliary(("will", "will"), ("va", "vont")),
    CAN,
    Auxiliary(("must", "must"), ("doit", "doivent")),
)

# Determiners are chosen evenly, so one with several lines is as much more frequent.
SINGULAR_DETERMINERS = _parse_determiners("""
the | le | la
the | le | la
the | le | la
a | un | une
a | un | une
this | ce | cette
his | son | sa
their | leur | leur
every | chaque | chaque
""")
PLURAL_DETERMINERS = _parse_determiners("""
the | les | les
the | les | les
some | des | des
these | ces | ces
his | ses | ses
their | leurs | leurs
two | deux | deux
three | trois | trois
many | beaucoup de | beaucoup de
""")
INDEFINITE_DETERMINERS = ("a", "some")  # "de" in the object of a negated French verb

SUBJECT_PRONOUNS = _parse_pronouns("""
he il m singular
she elle f singular
they ils m plural
""")
OBJECT_PRONOUNS = _parse_pronouns("""
him le m singular
her la f singular
them les m plural
""")

LOCATIONS = _parse_phrase_pairs("""
in | dans
behind | derrière
in front of | devant
near | près de
next to | à côté de
""")
CITY_LOCATIONS = _parse_phrase_pairs("""
in | à
near | près de
""")
COMPANY = _parse_phrase_pairs("""
with | avec
for | pour
""")

VERB_ADVERBS = _parse_phrase_pairs("""
often | souvent
always | toujours
sometimes | parfois
already | déjà
""")
NEGATED_ADVERBS = VERB_ADVERBS[:2]
CLOSING_ADVERBS = _parse_phrase_pairs("""
slowly | lentement
here | ici
now | maintenant
today | aujourd' hui
tonight | ce soir
""")
OPENING_ADVERBS = CLOSING_ADVERBS[2:]

DAYS = tuple(str(day) for day in range(2, 13))
MONTHS = _parse_phrase_pairs("""
March | mars
April | avril
May | mai
June | juin
July | juillet
October | octobre
""")

CONJUNCTIONS = _parse_phrase_pairs("""
, and | , et
, but | , mais
, so | , donc
because | parce que
when | quand
while | pendant que
if | si
""")
