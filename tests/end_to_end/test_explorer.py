"""The explorer in a real browser, opened from the file system, with as many sentences as the paper's test set."""

from __future__ import annotations

import json
import random
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sacrebleu.metrics.bleu import BLEU
from selenium import webdriver
from selenium.webdriver.common.action_chains import ActionChains
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys
from selenium.webdriver.remote.webelement import WebElement
from selenium.webdriver.support.select import Select

from nmt.evaluation.bleu import multi_bleu
from nmt.evaluation.trees import as_line
from pipeline.results.explorer.page import write_explorer
from tests.browser import Page, needs_browser

SENTENCES = 3003
ATTENDS, OTHER, PLAIN = "RNNsearch <b>50</b>", "RNNsearch-30", "RNNencdec-50"
GIVEN = "Moses"
pytestmark = needs_browser

Record = dict[str, Any]


def text_of(draw: random.Random, words: list[str]) -> list[str]:
    return [draw.choice(words) for _ in range(draw.randint(1, 32))]


def record(draw: random.Random, line: int, source: list[str], target: list[str], aligned: bool) -> Record:
    weights = np.random.default_rng(line).dirichlet([0.1] * (len(source) + 1), len(target) + 1).round(5)
    return {
        "line": line,
        "source": " ".join(source),
        "text": " ".join(target),
        "log_probability": -draw.random() * 20,
        "finished": True,
        "source_unknown": draw.choice([0, 0, 1, 2]),
        "alignment": weights.tolist() if aligned else None,
    }


@dataclass(frozen=True)
class Texts:
    """What the page was made from."""

    references: list[str]
    models: dict[str, list[Record]]

    def bleu(self, label: str, lines: list[int]) -> str:
        hypotheses = [self.models[label][line]["text"] for line in lines]
        score = multi_bleu().corpus_score(hypotheses, [[self.references[line] for line in lines]])
        return f"{score.score:.2f}"


@pytest.fixture(scope="module")
def texts() -> Texts:
    draw = random.Random(5)
    english = [f"word{i}" for i in range(60)] + ["</script><script>document.title='bad'</script>"]
    french = [f"mot{i}" for i in range(20)] + ["école", "été", "&apos;", "[UNK]"]
    sources = [text_of(draw, english) for _ in range(SENTENCES)]
    references = [text_of(draw, french) for _ in range(SENTENCES)]
    models: dict[str, list[Record]] = {}
    for label, share, aligned in ((PLAIN, 0.5, False), (OTHER, 0.8, True), (ATTENDS, 0.9, True)):
        targets = [[w if draw.random() < share else "mot0" for w in words] for words in references]
        models[label] = [record(draw, i, sources[i], targets[i], aligned) for i in range(SENTENCES)]
    for records in models.values():  # what is unknown in a source is so for every model
        for line, value in enumerate(records):
            value["source_unknown"] = models[PLAIN][line]["source_unknown"]
    return Texts([" ".join(words) for words in references], models)


def merged_at_the_root(leaves: int) -> list[list[list[float]]]:
    """Gates of a tree whose root merges, while every other node passes on its left child."""
    levels = [[[0.0, 1.0, 0.0]] * count for count in range(leaves - 1, 1, -1)]
    return [*levels, [[1.0, 0.0, 0.0]]]


@pytest.fixture(scope="module")
def page(texts: Texts, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("explorer")
    (folder / "reference").write_text("\n".join(texts.references) + "\n", encoding="utf-8")
    files = []
    for number, (label, records) in enumerate(texts.models.items()):
        file = folder / f"{number}.jsonl"
        file.write_text("".join(json.dumps(value) + "\n" for value in records), encoding="utf-8")
        files.append((label, file))
    trees = [as_line(merged_at_the_root(len(value["source"].split()) + 1)) for value in texts.models[PLAIN]]
    (folder / "trees").write_text("\n".join(trees) + "\n", encoding="utf-8")
    shown = {PLAIN: folder / "trees"}
    write_explorer(
        files,
        folder / "reference",
        "Test <i>set</i>",
        folder / "explorer.html",
        trees=shown,
        languages=("en", "fr"),
        given={GIVEN: folder / "reference"},
    )
    return folder / "explorer.html"


class Explorer(Page):
    """The page in a browser."""

    def shown(self) -> int:
        return int(self.one("#summary b").text.replace(",", ""))

    def fill(self, name: str, value: object) -> None:
        field = self.one(f"#{name}")
        field.clear()
        field.send_keys(str(value))

    def chosen(self) -> int:
        return int(self.one("#detail .head strong").text.removeprefix("Sentence ").replace(",", ""))

    def lines(self, card: int = 0) -> list[list[WebElement]]:
        """Words of a card's lines: source and translation, or the translation alone."""
        lines = self.all(".card")[card].find_elements(By.CSS_SELECTOR, ".sentence")
        return [line.find_elements(By.CSS_SELECTOR, ".word") for line in lines]


@pytest.fixture
def explorer(driver: webdriver.Chrome, page: Path) -> Explorer:
    return Explorer(driver, page)


def test_it_asks_no_network_runs_no_text_and_draws_only_lines_in_sight(explorer: Explorer) -> None:
    assert explorer.driver.title == "Test <i>set</i>"
    assert explorer.requests() == 0
    assert not explorer.errors()
    assert explorer.shown() == SENTENCES
    assert 5 < len(explorer.all(".row")) < 60
    explorer.driver.execute_script("document.getElementById('list').scrollTop = 1e9")
    explorer.until(f"document.querySelector('[aria-posinset=\"{SENTENCES}\"]') !== null")
    assert len(explorer.all(".row")) < 60


def test_it_opens_on_a_short_sentence_that_only_models_with_attention_translate(
    explorer: Explorer, texts: Texts
) -> None:
    metric = BLEU(tokenize="none", effective_order=True)

    def bleu(label: str, line: int) -> float:
        return metric.sentence_score(texts.models[label][line]["text"], [texts.references[line]]).score

    short = [
        (min(bleu(ATTENDS, line), bleu(OTHER, line)) - bleu(PLAIN, line), -line)
        for line, value in enumerate(texts.models[PLAIN])
        if 8 <= len(value["source"].split()) <= 15 and not value["source_unknown"]
    ]
    assert explorer.chosen() == 1 - max(short)[1]
    spoken = [line.get_attribute("lang") for line in explorer.all(".card:first-of-type .sentence")]
    assert spoken == ["en", "fr"]
    assert {row.get_attribute("lang") for row in explorer.all(".row .text")} == {"en"}


def test_a_phone_shows_the_filters_when_they_are_asked_for(explorer: Explorer) -> None:
    with explorer.phone():
        assert not explorer.one("#query").is_displayed()
        explorer.one("#fold").click()
        assert explorer.one("#query").is_displayed()
        assert explorer.one("#fold").get_attribute("aria-expanded") == "true"
        assert explorer.run("return document.documentElement.scrollWidth") <= 390


def test_bleu_on_what_is_shown_is_that_of_the_tables(explorer: Explorer, texts: Texts) -> None:
    first, second = (node.text for node in explorer.all("#summary b")[1:])
    everything = list(range(SENTENCES))
    assert first == texts.bleu(ATTENDS, everything)
    assert second == texts.bleu(PLAIN, everything)
    explorer.fill("words-from", 30)
    long = [i for i in everything if len(texts.models[PLAIN][i]["source"].split()) >= 30]
    assert explorer.shown() == len(long)
    assert explorer.all("#summary b")[1].text == texts.bleu(ATTENDS, long)


def test_search_and_filters(explorer: Explorer, texts: Texts) -> None:
    explorer.fill("query", "ECOLE mot3")  # whatever accents and case
    found = [i for i, text in enumerate(texts.references) if "école" in text and "mot3" in text]
    Select(explorer.one("#where")).select_by_value("reference")
    assert explorer.shown() == len(found) > 0
    assert all(
        "école" in text or "mot3" in text for text in (n.text for n in explorer.all(".reference .found"))
    )
    explorer.fill("query", '"mot1 mot2"')
    phrases = [i for i, text in enumerate(texts.references) if "mot1 mot2" in text]
    assert explorer.shown() == len(phrases) > 0
    explorer.one("#reset").click()
    explorer.until(f"document.querySelector('#summary b').textContent === '{SENTENCES:,}'")
    explorer.fill("unknown-from", 1)
    explorer.fill("unknown-to", 1)
    assert explorer.shown() == sum(value["source_unknown"] == 1 for value in texts.models[PLAIN])
    explorer.fill("bleu-from", 101)
    assert explorer.shown() == 0
    assert explorer.one(".nothing").text == "No sentence matches."


def test_sorting(explorer: Explorer, texts: Texts) -> None:
    Select(explorer.one("#sort")).select_by_value("words")
    explorer.one("#order").click()
    lengths = [len(value["source"].split()) for value in texts.models[PLAIN]]
    explorer.one("#list").send_keys(Keys.HOME)
    assert lengths[explorer.chosen() - 1] == max(lengths)


def test_a_word_shows_what_it_attends_to(explorer: Explorer, texts: Texts) -> None:
    explorer.one("#list").send_keys(Keys.END)
    value = texts.models[ATTENDS][SENTENCES - 1]
    source, target = explorer.lines()
    assert [word.text for word in source] == [*value["source"].split(" "), "⟨end⟩"]
    ActionChains(explorer.driver).move_to_element(target[0]).perform()
    weights = value["alignment"][0]
    most = int(np.argmax(weights))
    assert "strongest" in source[most].get_attribute("class").split()
    share = f"{round(100 * round(weights[most] * 255) / 255)} %"
    assert f"attends to {[*value['source'].split(' '), '⟨end⟩'][most]} {share}" in explorer.said()
    marked = [i for i, word in enumerate(source) if word.get_attribute("style")]
    assert marked == [i for i, weight in enumerate(weights) if round(weight * 255) / 255 >= 0.01]
    others = {word.text for word in target if "other" in word.get_attribute("class").split()}
    assert others <= {"mot0"}  # what was put in place of the reference's words
    column = [row[1] for row in value["alignment"]]
    ActionChains(explorer.driver).move_to_element(source[1]).perform()
    assert "strongest" in target[int(np.argmax(column))].get_attribute("class").split()
    assert "is attended to by" in explorer.said()


def test_two_models_side_by_side(explorer: Explorer) -> None:
    assert [node.text for node in explorer.all(".card h2")] == [ATTENDS, PLAIN]
    assert len(explorer.lines(0)) == 2
    assert len(explorer.lines(1)) == 1  # without attention its source says nothing
    Select(explorer.one("#second")).select_by_visible_text(OTHER)
    assert [len(explorer.lines(card)) for card in (0, 1)] == [2, 2]
    assert len(explorer.all(".card canvas")) == 2
    Select(explorer.one("#second")).select_by_visible_text(GIVEN)
    card = explorer.all(".card")[1].text
    assert "Another system" in card and "log-probability" not in card and "attention" not in card
    Select(explorer.one("#second")).select_by_visible_text("none")
    assert [node.text for node in explorer.all(".card h2")] == [ATTENDS]


def test_the_keyboard_is_enough(explorer: Explorer) -> None:
    explorer.keys("/")
    assert explorer.focused().get_attribute("id") == "query"
    explorer.keys("mot", Keys.ESCAPE)
    assert explorer.focused().get_attribute("id") == "list"
    explorer.keys(Keys.HOME, Keys.ARROW_DOWN, Keys.ARROW_DOWN, "k")
    chosen = explorer.one('.row[aria-selected="true"]')
    assert chosen.get_attribute("aria-posinset") == "2"
    assert explorer.focused().get_attribute("aria-activedescendant") == chosen.get_attribute("id")
    explorer.keys(Keys.END, Keys.PAGE_UP)
    assert int(explorer.one('.row[aria-selected="true"]').get_attribute("aria-posinset")) < explorer.shown()
    explorer.keys(Keys.HOME, Keys.ENTER)
    source, target = explorer.lines()
    assert explorer.focused() == target[0]
    explorer.keys(Keys.ARROW_RIGHT)
    assert explorer.focused() == target[min(1, len(target) - 1)]
    explorer.keys(Keys.ARROW_UP)
    assert explorer.focused() in source
    assert "strongest" in " ".join(word.get_attribute("class") for word in target)
    explorer.keys(Keys.ESCAPE)
    assert explorer.focused().get_attribute("id") == "list"
    unnamed = "[...document.querySelectorAll('input, select, button')].filter(e => !e.labels?.length && !e.ariaLabel"
    assert explorer.driver.execute_script(f"return {unnamed} && !e.textContent).length") == 0


def test_an_address_leads_to_its_sentence(explorer: Explorer, page: Path) -> None:
    explorer.one("#list").send_keys(Keys.END, Keys.ARROW_UP)
    address = explorer.driver.current_url
    explorer.driver.get("about:blank")
    explorer.driver.get(address)
    explorer.until("document.body.dataset.ready === 'true'")
    assert explorer.chosen() == SENTENCES - 1
    assert explorer.one('.row[aria-selected="true"]').is_displayed()


def test_light_and_dark(explorer: Explorer) -> None:
    def brightness() -> int:
        colour = explorer.one("body").value_of_css_property("background-color")
        return int(colour.split("(")[1].split(",")[0])

    def prefer(scheme: str) -> None:
        features = {"features": [{"name": "prefers-color-scheme", "value": scheme}]}
        explorer.driver.execute_cdp_cmd("Emulation.setEmulatedMedia", features)

    prefer("light")
    assert brightness() > 200
    prefer("dark")
    assert brightness() < 60
    explorer.one("#theme").click()
    assert brightness() > 200  # light, whatever the system prefers
    prefer("light")
    explorer.one("#theme").click()
    assert brightness() < 60


def test_a_tree_is_drawn_from_its_root_down(explorer: Explorer, texts: Texts) -> None:
    Select(explorer.one("#first")).select_by_visible_text(PLAIN)
    Select(explorer.one("#second")).select_by_visible_text("none")
    words = texts.models[PLAIN][explorer.chosen() - 1]["source"].split()
    assert [node.text for node in explorer.all(".tree text")] == [*words, "end"]
    chain = len(words) - 1  # nodes below the root of either child, left ones all
    assert len(explorer.all(".tree circle:not(.leaf)")) == 1 + 2 * chain
    assert len(explorer.all(".tree .passed")) == 2 * chain and len(explorer.all(".tree .merged")) == 3
    Select(explorer.one("#first")).select_by_visible_text(OTHER)
    assert not explorer.all(".tree")
