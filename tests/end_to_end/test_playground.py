"""The playground in a real browser, against what `nmt translate` and the search make of the same weights."""

import base64
import json
import random
import shutil
from pathlib import Path

import numpy as np
import pytest
import torch
from selenium import webdriver
from selenium.webdriver.common.keys import Keys

from nmt.data.tokenization import RawText
from nmt.data.vocabulary import END, Vocabulary
from nmt.decoding import beam_search
from nmt.decoding.translation import Translation
from nmt.decoding.translator import TextTranslator
from nmt.io.files import write_json
from nmt.model import model_types
from nmt.settings.decoding import ComputeOptions, TextSettings, TranslateOptions
from nmt.settings.model_types import ModelTypeName
from nmt.settings.text import Tokenization
from nmt.store import trained_model
from nmt.store.model_folder import SETTINGS, SOURCE_VOCABULARY, TARGET_VOCABULARY, WEIGHTS
from nmt.store.tensors import load_metadata, load_tensors, save_tensors
from pipeline.results.playground.page import write_playground
from pipeline.results.playground.text_rules import collect_rules
from tests.browser import Page, needs_browser
from tests.small_models import interpretations, small_model
from tests.training_settings import decoding, model_run
from tests.translators import text_settings
from tests.unit.decoding.test_beam_search import encode

pytestmark = needs_browser
ENGLISH = ["the", "a", "old", "cat", "dog", "book", "sees", "reads", "and", "house", ",", "."]
ENGLISH += ["Tom", "it", "It"]
FRENCH = ["le", "la", "vieux", "chat", "chien", "livre", "voit", "lit", "et", "maison", ",", "."]
FRENCH += ["l&apos;", "homme"]
LINES = [
    "The old cat sees Tom's book.",
    "It reads, and the dog sees a <house> in the house of zzz.",
    "a cat " * 9,
    "TOM  reads\u00a0(12.5 %) ... & \"it's\" the cat, dog; don't.",
    ".",
]
TESTS = [
    "the old cat sees a dog .",
    "the dog reads .",
    "the dog reads a book .",
    "it sees Tom &apos;s old book .",
]
"""The second is too short for a clause, the last has a word without an id."""


def model_folder(folder: Path, model_type: ModelTypeName, seed: int) -> Path:
    """A model with random weights that 16 bits hold."""
    folder.mkdir(parents=True)
    run = model_run(model_type=model_type).model_copy(update={"label": f"{model_type}, small"})
    checksums = {}
    for side, words, name in (("source", ENGLISH, SOURCE_VOCABULARY), ("target", FRENCH, TARGET_VOCABULARY)):
        vocabulary = Vocabulary([(word, 9) for word in words])
        vocabulary.write(folder / name)
        checksums[side] = vocabulary.sha256
    network = model_types.create_model(
        model_type, run.architecture, (len(ENGLISH) + 2, len(FRENCH) + 2), seed
    )
    generator = torch.Generator().manual_seed(seed)
    weights = {
        name: weight.normal_(0, 0.9, generator=generator).half().float()
        for name, weight in network.state_dict().items()
    }
    save_tensors(folder / WEIGHTS, weights, {"vocabularies": json.dumps(checksums)})
    write_json(folder / SETTINGS, run.model_dump())
    return folder


@pytest.fixture(scope="module")
def text() -> TextSettings:
    search = decoding(beam=4, max_length_factor=2, min_length="half", if_no_eos="retry", max_beam=8)
    return text_settings(search)


@pytest.fixture(scope="module")
def folders(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    place = tmp_path_factory.mktemp("models")
    return [
        model_folder(place / "rnnsearch", "rnnsearch", 3),
        model_folder(place / "rnnencdec", "rnnencdec", 7),
    ]


@pytest.fixture(scope="module")
def page(folders: list[Path], text: TextSettings, tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("playground")
    (place / "source").write_text("".join(f"{line}\n" for line in TESTS), encoding="utf-8")
    (place / "reference").write_text("le chat lit .\n" * len(TESTS), encoding="utf-8")
    output = place / "playground.html"
    sides = place / "source", place / "reference"
    assert write_playground(folders, text, *sides, 16, 1, "Try <i>{{data}}</i>", output) is None
    return output


class Playground(Page):
    """The page, its sentence translated at once."""

    def idle(self) -> None:
        self.until("document.body.dataset.busy === 'false'")

    def type(self, line: str) -> None:
        self.run("document.getElementById('slowly').checked = false")
        field = self.one("#source")
        field.clear()
        field.send_keys(line, Keys.ENTER)
        self.idle()

    def sentence(self) -> str:
        return str(self.one("#source").get_property("value"))

    def texts(self) -> list[str]:
        return [node.text.removesuffix(" ⟨end⟩") for node in self.all(".card .translation")]

    def open(self, fragment: str) -> None:
        """Follow a link to the page."""
        self.driver.get(self.driver.current_url.partition("#")[0] + fragment)
        self.idle()


@pytest.fixture
def playground(driver: webdriver.Chrome, page: Path) -> Playground:
    return Playground(driver, page)


def translations(
    folder: Path, text: TextSettings, beam: int, forbid: bool, lines: list[str] = LINES
) -> list[Translation]:
    """What `nmt translate` makes of the lines."""
    options = TranslateOptions(beam_size=beam, unknown="forbid" if forbid else "keep")
    model = trained_model.load_model(folder, torch.device("cpu"))
    found = TextTranslator([model], text, options, ComputeOptions(), keep_attention=True)(lines)
    return [best for best, *_ in found]


@pytest.mark.parametrize(("beam", "forbid"), [(1, False), (4, True), (12, False)])
def test_page_translates_as_nmt_translate(
    playground: Playground, folders: list[Path], text: TextSettings, beam: int, forbid: bool
) -> None:
    assert_same_translations(playground, folders, text, LINES, beam, forbid)


def assert_same_translations(
    playground: Playground, folders: list[Path], text: TextSettings, lines: list[str], beam: int, forbid: bool
) -> None:
    """The page translates lines as `nmt translate` does with these models."""
    script = "return arguments[0].map((line) => translator.translate(arguments[1], line, ...arguments[2]))"
    for number, folder in enumerate(folders):
        found = playground.run(script, lines, number, [beam, forbid])
        for page_result, translation in zip(
            found, translations(folder, text, beam, forbid, lines), strict=True
        ):
            assert (page_result["text"], page_result["tokens"]) == (
                translation.text,
                translation.source_tokens,
            )
            assert (page_result["words"], page_result["finished"]) == (
                translation.tokens,
                translation.finished,
            )
            assert page_result["total"] == pytest.approx(translation.score, abs=1e-4)
            if translation.attention is not None:
                rows = np.array(page_result["weights"])[
                    : len(translation.tokens), : len(translation.source_tokens)
                ]
                np.testing.assert_allclose(rows, translation.attention, atol=1e-4)


def test_page_with_8_bits_of_models_of_tokenized_text(
    driver: webdriver.Chrome, folders: list[Path], text: TextSettings, page: Path, tmp_path: Path
) -> None:
    text = text.model_copy(update={"tokenized": True})
    output, sides = tmp_path / "playground.html", (page.parent / "source", page.parent / "reference")
    assert write_playground(folders, text, *sides, 8, 1, "T", output) is None
    rounded = [tmp_path / folder.name for folder in folders]
    for original, folder in zip(folders, rounded, strict=True):
        shutil.copytree(original, folder)
        weights = load_tensors(original / WEIGHTS)
        for name, weight in weights.items():
            if weight.dim() > 1:
                step = weight.abs().max() / 127
                weights[name] = (weight / step).round() * step
        vocabularies = load_metadata(original / WEIGHTS)["vocabularies"]
        save_tensors(folder / WEIGHTS, weights, {"vocabularies": vocabularies})
    playground = Playground(driver, output)
    assert_same_translations(playground, rounded, text, LINES, 4, False)
    assert "rounded to 8 bits" in str(playground.one("#about").get_property("textContent"))


NETWORK = """
    const [model, weights, sources, decoding, forbid] = arguments;
    const bytes = Uint8Array.from(atob(weights), (character) => character.charCodeAt(0));
    const network = new Network(model, bytes, 0);
    return sources.map((ids) => {
        const search = translateIds(network, ids, decoding, decoding.beam, forbid);
        let step = search.next();
        while (!step.done) step = search.next();
        return step.value;
    });"""


@pytest.mark.parametrize("model_type", ["rnnsearch", "rnnencdec"])
def test_every_interpretation(playground: Playground, model_type: ModelTypeName) -> None:
    draw = random.Random(2)
    for number, changes in enumerate(interpretations(model_type)):
        model = small_model(model_type, **changes, source_eos=number % 2 == 0, unused_ids=number % 3)
        state = {name: weight.half() for name, weight in model.state_dict().items()}
        model.load_state_dict(state)
        described = {
            "tensors": [[name, list(weight.shape), None] for name, weight in state.items()],
            "architecture": model.architecture.model_dump(),
            "aligns": model_type == "rnnsearch",
            "targetWords": model.readout.vocabulary_size,
        }
        numbers = np.concatenate([weight.numpy().ravel() for weight in state.values()])
        weights = base64.b64encode(numbers.view(np.uint8).reshape(-1, 2).T.tobytes()).decode()
        sources = [[draw.randrange(2, 9) for _ in range(draw.randint(1, 6))] for _ in range(3)]
        settings = decoding(
            beam=draw.randint(1, 6),
            normalize_by_length=draw.random() < 0.5,
            min_length=draw.choice(["half", "none"]),
            max_length_factor=2,
            if_no_eos="widen_beam",
            max_beam=12,
            widening_budget=draw.choice([None, 2, 5]),
        )
        forbid = draw.random() < 0.5
        found = playground.run(NETWORK, described, weights, sources, settings.model_dump(), forbid)
        with torch.no_grad():
            expected = beam_search.search(model, *encode(model, sources), settings, forbid)
        for page_result, (best, *_) in zip(found, expected, strict=True):
            words = [*best.ids, *([END] if best.finished else [])]
            assert (page_result["words"], page_result["finished"]) == (words, best.finished)
            assert page_result["total"] == pytest.approx(best.log_probability, abs=1e-5)


PIECES = [
    *"abé ÉñΩж文कि019.,;:!?'\"’“«»()[]<>|&@#$€%*-/`",
    *("  ", "...", "''", "l'", "d'", "'s", "Mr.", "No. 5", "U.S.", "e.g. "),
    *("\u00a0", "5,300", "@-@", "&apos;", "🙂", "½", "\u0301", "\x07", "\x85"),
    *("[UNK]", "Ꙗ", "e\u0301", "a\u00adb", "ه\u200cا", "x\u200c", "ก\u200bก", "\u200b", "…", "`", "‑", "้"),
    *(
        "x\x92y",
        "\ufeff",
        "🇫🇷",
        "👍🏽",
        "1️⃣",
        "👨‍👩‍👧",
        "東京",
        "。",
        "，",
        "؟",
        "་",
        "ב",
        "ʻ",
        "a'b",
        "a:b",
        "5:5",
    ),
]
TOKENS = """
    const [language, settings, rules, lines] = arguments;
    const tokenizer = new Tokenizer(language, settings, rules);
    const detokenizer = new Detokenizer(language, settings, rules);
    return lines.map((line) => tokenizer.tokens(line)).map((tokens) => [tokens, detokenizer.text(tokens)]);"""


@pytest.mark.parametrize("language", ["en", "fr", "de"])
def test_tokens_and_text_are_those_of_moses(playground: Playground, language: str) -> None:
    draw = random.Random(language)
    lines = ["".join(draw.choices(PIECES, k=draw.randint(0, 30))) for _ in range(400)]
    for escape in (True, False):
        settings = Tokenization(
            escape=escape,
            split_hyphens=not escape,
            normalization="none" if escape else "punctuation",
        )
        moses = RawText(language, settings)
        found = playground.run(
            TOKENS, language, dict(settings), collect_rules(language, settings.normalization), lines
        )
        for line, (tokens, written) in zip(lines, found, strict=True):
            assert tokens == moses.tokenize(line), line
            assert written == moses.detokenize(tokens), tokens


def test_typed_sentence_is_translated(
    playground: Playground, folders: list[Path], text: TextSettings
) -> None:
    assert playground.driver.title == playground.one("h1").text == "Try <i>{{data}}</i>"
    playground.type(LINES[0])
    expected = [translations(folder, text, 4, False)[0].text for folder in folders]
    assert playground.texts() == expected
    assert playground.said() == f"rnnsearch, small: {expected[0]} rnnencdec, small: {expected[1]}"
    assert playground.one(".attends .sentence:not(.translation)").text.startswith("The old cat sees Tom's")
    assert len(playground.all(".card .matrix")) == len(playground.all(".card .vector")) == 1
    assert playground.requests() == 0 and not playground.errors()
    (policy,) = playground.all("meta[http-equiv]")
    assert str(policy.get_attribute("content")).startswith("default-src 'none'; ")


def test_unknown_words_and_vocabulary(playground: Playground) -> None:
    playground.type("The old kat sees a dog.")
    assert [node.text for node in playground.all(".word.strange")] == ["The", "kat"]
    assert "Unknown, read as [UNK]: “The”, “kat”." in playground.one("#count").text
    playground.one("#vocabulary summary").click()
    playground.one("#search").send_keys("hous")
    (word,) = playground.all("#words button")
    word.click()
    assert playground.sentence() == "The old kat sees a dog. house"


def test_hebrew_runs_from_right_to_left(playground: Playground) -> None:
    playground.type("שלום, עולם?")
    for selector in ("#source", ".attends .sentence:not(.translation)"):
        assert playground.one(selector).value_of_css_property("direction") == "rtl"


def test_long_search_can_be_stopped(playground: Playground) -> None:
    playground.idle()
    playground.run(
        "document.getElementById('slowly').checked = false; translator.steps = function* () { for (;;) {"
        " const began = performance.now(); while (performance.now() - began < 60);"
        " yield { words: ['le'], weights: [], width: 160 }; } }; playground.translate()"
    )
    playground.until("document.getElementById('work').style.visibility === 'visible'")
    assert "searches: beam 160, 1 word" in playground.one("#work").text
    playground.one("#stop").click()
    playground.idle()
    assert not playground.one("#work").is_displayed()


def test_address_of_page(playground: Playground) -> None:
    playground.type(LINES[0])
    playground.run("document.querySelectorAll('#models input')[1].click()")
    playground.until("location.hash.includes('models=rnnsearch')")
    playground.idle()
    link = playground.run("return location.hash")
    assert "beam=4" in link and len(playground.all(".card:not([hidden])")) == 1
    expected = playground.one(".translation").text
    playground.open("#sentence=a+cat&beam=2&unk=0")
    assert playground.sentence() == "a cat" and len(playground.all(".card:not([hidden])")) == 2
    assert playground.one("#unmeasured").is_displayed()  # nobody's reference, so no point of the curve
    assert not playground.all("#plot :is(circle, rect)")
    assert playground.run("return [beam.value, allowed.checked]") == ["2", False]
    playground.open(link)
    assert playground.sentence() == LINES[0] and playground.one(".translation").text == expected
    playground.open("#sentence=the+old+cat+sees+a+dog,+and+the+dog+reads+a+book.&beam=x&models=none")
    assert playground.one("#reference .sentence").text == "le chat lit, et le chat lit."
    assert not playground.one("#unmeasured").is_displayed()
    assert playground.run("return beam.value") == "4"


def test_keyboard(playground: Playground) -> None:
    playground.type(LINES[0])
    playground.run("document.querySelector('.card .word[tabindex=\"0\"]').focus()")
    first = playground.focused()
    playground.keys(Keys.ARROW_RIGHT)
    assert playground.focused() != first and "attends to" in playground.said()
    playground.keys(Keys.ARROW_DOWN)
    assert "is attended to by" in playground.said()
    playground.keys(Keys.ESCAPE)
    assert playground.focused().get_attribute("id") == "source"
    playground.run("document.getElementById('beam').focus()")
    before = playground.run("return playground.run")
    playground.keys(Keys.ARROW_RIGHT)
    assert playground.one("#width").text == "5"
    playground.until(f"playground.run > {before}")
    playground.idle()
    named = "e => e.labels?.length || e.ariaLabel || e.textContent"
    assert playground.run(f"return [...document.querySelectorAll('input, textarea, button')].every({named})")


def test_growing_sentence(playground: Playground) -> None:
    playground.open("#sentence=the+old+cat+sees+a+dog.&longer")
    playground.run("document.getElementById('slowly').checked = false")
    playground.until("document.getElementById('longer').textContent !== 'Stop'")
    assert playground.sentence() == "the old cat sees a dog, and the dog reads a book."
    assert playground.one("#reference .sentence").text == "le chat lit, et le chat lit."
    assert playground.run("return playground.curve.tried.map(({words}) => words)") == [7, 14]
    box = "node => node.getBoundingClientRect().toJSON()"
    plot, *names = playground.run(f"return [...document.querySelectorAll('#plot svg, .name')].map({box})")
    upper, lower = sorted(names, key=lambda name: name["top"])
    assert upper["bottom"] <= lower["top"] + 1 and lower["bottom"] <= plot["bottom"]
    assert all(name["right"] <= plot["right"] for name in names)


def test_long_texts(playground: Playground) -> None:
    """A word of 50,000 letters, and clauses joined in exponentially many ways that all lead nowhere."""
    playground.driver.set_script_timeout(5)
    took = """
        const began = performance.now();
        element("source").value = arguments[0];
        playground.read();
        return performance.now() - began;"""
    assert playground.run(took, "x" * 50_000) < 2000
    assert "first 5,000 letters" in playground.one("#count").text
    assert playground.run(took, "it reads\n" + "the cat sees a dog " * 80) < 2000
    told = playground.one("#count").text
    assert "402 words" in told and "first 100 words are translated" in told
    playground.run("playground.clauses.push(...playground.clauses, ...playground.clauses)")
    ways = "the old cat sees a dog" + ", and the old cat sees a dog" * 30
    assert playground.run(took, f"{ways}, and the zzz.") < 2000
    assert not playground.one("#reference").is_displayed()
    assert playground.run(took, f"{ways}.") < 2000
    assert playground.one("#reference").is_displayed()
