"""How quick the explorer is in a browser: `make bench-explorer`.

Usage: python -m benchmarks.explorer [--sentences N] [--models N] [--rounds N]

Drawn sentences as long as those of news, translated by models of which every other one has attention, as one page in
Chromium. Milliseconds from an event to the frame that shows what came of it; medians of the rounds.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import statistics
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from selenium import webdriver

from benchmarks.findings import publish, whole_numbers
from nmt.io.text_files import write_lines
from nmt.report.explorer.page import write_explorer

OUTPUT = Path(__file__).parent / "results" / "explorer.json"
WORDS = 20_000

READY = """
new MutationObserver(() => {
  if (document.body?.dataset.ready && !window.ready) {
    requestAnimationFrame(() => setTimeout(() => { window.ready = performance.now(); }));
    window.ready = -1;
  }
}).observe(document, {subtree: true, childList: true, attributes: true});
"""
"""Notes when the page has read its data and shown it, since its address was entered."""

TIMED = """
const done = arguments[arguments.length - 1], begin = performance.now();
%s
requestAnimationFrame(() => setTimeout(() => done(performance.now() - begin)));
"""
TYPE = """
const query = document.getElementById("query");
query.value = "%s";
query.dispatchEvent(new Event("input", {bubbles: true}));
"""
SORT = """
const sort = document.getElementById("sort");
sort.value = "%s";
sort.dispatchEvent(new Event("change", {bubbles: true}));
"""
NEXT = """
document.getElementById("list").dispatchEvent(new KeyboardEvent("keydown", {key: "ArrowDown", bubbles: true}));
"""
EVENTS = {
    "filter": (TYPE % "w12", TYPE % ""),
    "sort": (SORT % "difference", SORT % "line"),
    "selection": (NEXT, ""),
}
"""What is timed, and what takes it back."""


def main() -> None:
    """Measure, print and write `benchmarks/results/explorer.json`."""
    arguments = parse()
    with tempfile.TemporaryDirectory() as folder, browser() as driver:
        page = write(Path(folder), arguments.sentences, arguments.models)
        found = {
            "sentences": arguments.sentences,
            "models": arguments.models,
            "rounds": arguments.rounds,
            "browser": f"{driver.capabilities['browserName']} {driver.capabilities['browserVersion']}",
            "cores": len(os.sched_getaffinity(0)),
            "megabytes": round(page.stat().st_size / 1e6, 1),
            "milliseconds": measure(driver, page, arguments.rounds),
        }
    publish(found, OUTPUT)


def parse() -> argparse.Namespace:
    """Options."""
    return whole_numbers(__doc__, sentences=3003, models=5, rounds=7)


@contextmanager
def browser() -> Iterator[webdriver.Chrome]:
    """Chromium without a window; leaves with a line where there is none."""
    program, driver = shutil.which("chromium") or shutil.which("google-chrome"), shutil.which("chromedriver")
    if program is None or driver is None:
        sys.exit("bench-explorer: no browser and driver found (Debian: apt install chromium chromium-driver)")
    options = webdriver.ChromeOptions()
    options.binary_location = program
    for argument in ("--headless=new", "--disable-dev-shm-usage", "--window-size=1400,950"):
        options.add_argument(argument)
    if os.getuid() == 0:
        options.add_argument("--no-sandbox")
    found = webdriver.Chrome(options=options, service=webdriver.ChromeService(driver))
    found.set_script_timeout(60)
    try:
        yield found
    finally:
        found.quit()


def measure(driver: webdriver.Chrome, page: Path, rounds: int) -> dict[str, float]:
    """Milliseconds until the page is there, and from each event to the frame after it."""
    driver.execute_cdp_cmd("Page.addScriptToEvaluateOnNewDocument", {"source": READY})
    starts, times = [], {name: list[float]() for name in EVENTS}
    for _ in range(rounds):
        driver.get("about:blank")
        driver.get(page.as_uri())
        starts.append(ready(driver))
        for name, (event, back) in EVENTS.items():
            times[name].append(float(driver.execute_async_script(TIMED % event)))
            driver.execute_script(back or "return")
    found = {"start": starts, **times}
    return {name: round(statistics.median(values), 1) for name, values in found.items()}


def ready(driver: webdriver.Chrome) -> float:
    """Milliseconds from the address to the first sentences on the screen."""
    waiting = """
    const done = arguments[arguments.length - 1];
    const look = () => window.ready > 0 ? done(window.ready) : setTimeout(look, 5);
    look();
    """
    return float(driver.execute_async_script(waiting))


def write(folder: Path, sentences: int, models: int) -> Path:
    """The page of drawn translations."""
    draw = np.random.Generator(np.random.PCG64(1))
    lengths = np.clip(np.exp(draw.normal(3.1, 0.5, sentences)), 1, 80).astype(np.int64)
    sources = [text_of(draw, length) for length in lengths.tolist()]
    references = [text_of(draw, length) for length in lengths.tolist()]
    with write_lines(folder / "reference") as writer:
        for reference in references:
            writer.write(" ".join(reference))
    files = []
    for number in range(models):
        file = folder / f"{number}.jsonl"
        with write_lines(file) as writer:
            for line, (source, reference) in enumerate(zip(sources, references, strict=True)):
                value = record(draw, line, source, reference, attends=number % 2 == 0)
                writer.write(json.dumps(value))
        files.append((f"Model {number}", file))
    write_explorer(files, folder / "reference", "Drawn sentences", folder / "explorer.html")
    return folder / "explorer.html"


def text_of(draw: np.random.Generator, length: int) -> list[str]:
    """So many words, frequent ones often."""
    ranks: NDArray[np.int64] = np.minimum(draw.zipf(1.3, length), WORDS)
    return [f"w{rank}" for rank in ranks.tolist()]


def record(
    draw: np.random.Generator, line: int, source: list[str], reference: list[str], attends: bool
) -> dict[str, Any]:
    """What `decode` writes of a sentence, in which four words of five are the reference's."""
    kept = draw.random(len(reference)) < 0.8
    target = [word if keep else "w0" for word, keep in zip(reference, kept.tolist(), strict=True)]
    weights = draw.dirichlet(np.full(len(source) + 1, 0.1), len(target) + 1).round(5) if attends else None
    return {
        "line": line,
        "source": " ".join(source),
        "text": " ".join(target),
        "log_probability": -float(draw.exponential(20)),
        "finished": True,
        "source_unknown": line % 3,
        "alignment": None if weights is None else weights.tolist(),
    }


if __name__ == "__main__":
    main()
