"""The frequent words of the demo's English-French grammar, with what agreement and word order need of each.

Tables have one word per row. French forms are written out and not derived, so that irregular forms need no rules.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Kind = Literal["person", "thing", "place"]


@dataclass(frozen=True, slots=True)
class Noun:
    """A common noun: forms by number, French gender."""

    english: tuple[str, str]
    french: tuple[str, str]
    feminine: bool


@dataclass(frozen=True, slots=True)
class Name:
    """A proper name of a person or a city, without article."""

    english: str
    french: str
    feminine: bool


@dataclass(frozen=True, slots=True)
class Adjective:
    """An adjective: French forms by `[plural][feminine]`, and its form before a masculine vowel."""

    english: str
    french: tuple[tuple[str, str], tuple[str, str]]
    before_vowel: str


@dataclass(frozen=True, slots=True)
class Verb:
    """A verb in the third person: present by number, past participle (French: masculine singular), infinitive.

    `particle` follows the English verb ("waits for"), `complement` the French one ("a besoin");
    `preposition` joins the French object where the verb takes an indirect one; `with_be`: the French
    perfect is formed with "être" and agrees with the subject.
    """

    english: tuple[str, str]
    english_participle: str
    particle: tuple[str, ...]
    french: tuple[str, str]
    infinitive: str
    participle: str
    complement: tuple[str, ...] = ()
    preposition: str = ""
    with_be: bool = False


@dataclass(frozen=True, slots=True)
class Auxiliary:
    """To be, to have or a modal in the present tense, third person, by number."""

    english: tuple[str, str]
    french: tuple[str, str]


@dataclass(frozen=True, slots=True)
class Determiner:
    """A determiner of one number: French by gender. An `indefinite` one is "de" under negation."""

    english: str
    french: tuple[tuple[str, ...], tuple[str, ...]]
    indefinite: bool = False


@dataclass(frozen=True, slots=True)
class Pairing:
    """Words that translate each other as a block: adverbs, prepositions, conjunctions."""

    english: tuple[str, ...]
    french: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Pronoun:
    """A personal pronoun of the third person; as an object, `french` is direct and `dative` indirect."""

    english: str
    french: str
    feminine: bool
    plural: bool
    dative: str = ""


def _rows(table: str) -> list[list[str]]:
    return [line.split() for line in table.strip().split("\n")]


def _nouns(table: str) -> tuple[Noun, ...]:
    return tuple(Noun((a, b), (c, d), g == "f") for a, b, c, d, g in _rows(table))


def _names(table: str) -> tuple[Name, ...]:
    return tuple(Name(english, french, gender == "f") for english, french, gender in _rows(table))


def _adjectives(table: str) -> tuple[Adjective, ...]:
    return tuple(Adjective(e, ((a, b), (c, d)), (v or [a])[0]) for e, a, b, c, d, *v in _rows(table))


def _verbs(table: str, with_be: bool = False) -> tuple[Verb, ...]:
    verbs = []
    for line in table.strip().split("\n"):
        english, french, preposition = (part.split() for part in (line + "|").split("|")[:3])
        singular, plural, participle, *particle = english
        sg, pl, infinitive, past, *complement = french
        verbs.append(
            Verb((singular, plural), participle, tuple(particle), (sg, pl), infinitive, past,
                 tuple(complement), "".join(preposition), with_be)
        )  # fmt: skip
    return tuple(verbs)


def _pairings(table: str) -> tuple[Pairing, ...]:
    sides = (line.split("|") for line in table.strip().split("\n"))
    return tuple(Pairing(tuple(english.split()), tuple(french.split())) for english, french in sides)


PERSONS = _nouns("""
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

THINGS = _nouns("""
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

PLACES = _nouns("""
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

PEOPLE = _names("""
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

CITIES = _names("""
Paris Paris m
London Londres m
Geneva Genève f
Vienna Vienne f
Athens Athènes f
Lisbon Lisbonne f
""")

ADJECTIVES_BEFORE = _adjectives("""
big grand grande grands grandes
small petit petite petits petites
old vieux vieille vieux vieilles vieil
beautiful beau belle beaux belles bel
new nouveau nouvelle nouveaux nouvelles nouvel
young jeune jeune jeunes jeunes
""")

ADJECTIVES_AFTER = _adjectives("""
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

# English: present singular and plural, participle, particle. French: the same, infinitive before the participle.
TRANSITIVE = _verbs("""
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

INDIRECT = _verbs("""
talks talk talked to | parle parlent parler parlé | à
smiles smile smiled at | sourit sourient sourire souri | à
needs need needed | a ont avoir eu besoin | de
dreams dream dreamed of | rêve rêvent rêver rêvé | de
""")

DITRANSITIVE = _verbs("""
gives give given | donne donnent donner donné
shows show shown | montre montrent montrer montré
sends send sent | envoie envoient envoyer envoyé
""")

INTRANSITIVE = (
    *_verbs("""
sleeps sleep slept | dort dorment dormir dormi
sings sing sung | chante chantent chanter chanté
works work worked | travaille travaillent travailler travaillé
laughs laugh laughed | rit rient rire ri
"""),
    *_verbs("arrives arrive arrived | arrive arrivent arriver arrivé", with_be=True),
)

REPORTING = _verbs("""
says say said | dit disent dire dit
thinks think thought | pense pensent penser pensé
believes believe believed | croit croient croire cru
""")

BE = Auxiliary(("is", "are"), ("est", "sont"))
HAVE = Auxiliary(("has", "have"), ("a", "ont"))
MODALS = (
    Auxiliary(("will", "will"), ("va", "vont")),
    Auxiliary(("can", "can"), ("peut", "peuvent")),
    Auxiliary(("must", "must"), ("doit", "doivent")),
)

DEFINITE = Determiner("the", (("le",), ("la",)))
SINGULAR_DETERMINERS = (
    *[DEFINITE] * 3,
    *[Determiner("a", (("un",), ("une",)), indefinite=True)] * 2,
    Determiner("this", (("ce",), ("cette",))),
    Determiner("his", (("son",), ("sa",))),
    Determiner("their", (("leur",), ("leur",))),
    Determiner("every", (("chaque",), ("chaque",))),
)
PLURAL_DETERMINERS = (
    *[Determiner("the", (("les",), ("les",)))] * 2,
    Determiner("some", (("des",), ("des",)), indefinite=True),
    Determiner("these", (("ces",), ("ces",))),
    Determiner("his", (("ses",), ("ses",))),
    Determiner("their", (("leurs",), ("leurs",))),
    Determiner("two", (("deux",), ("deux",))),
    Determiner("three", (("trois",), ("trois",))),
    Determiner("many", (("beaucoup", "de"), ("beaucoup", "de"))),
)

SUBJECT_PRONOUNS = (
    Pronoun("he", "il", False, False),
    Pronoun("she", "elle", True, False),
    Pronoun("they", "ils", False, True),
)
OBJECT_PRONOUNS = (
    Pronoun("him", "le", False, False, "lui"),
    Pronoun("her", "la", True, False, "lui"),
    Pronoun("them", "les", False, True, "leur"),
)

LOCATIONS = _pairings("""
in | dans
behind | derrière
in front of | devant
near | près de
next to | à côté de
""")
CITY_LOCATIONS = _pairings("""
in | à
near | près de
""")
COMPANY = _pairings("""
with | avec
for | pour
""")

VERB_ADVERBS = _pairings("""
often | souvent
always | toujours
sometimes | parfois
already | déjà
""")
NEGATED_ADVERBS = VERB_ADVERBS[:2]
CLOSING_ADVERBS = _pairings("""
slowly | lentement
here | ici
now | maintenant
today | aujourd' hui
tonight | ce soir
""")
OPENING_ADVERBS = CLOSING_ADVERBS[2:]

DAYS = tuple(str(day) for day in range(2, 13))
MONTHS = _pairings("""
March | mars
April | avril
May | mai
June | juin
July | juillet
October | octobre
""")

CONJUNCTIONS = _pairings("""
, and | , et
, but | , mais
, so | , donc
because | parce que
when | quand
while | pendant que
if | si
""")
