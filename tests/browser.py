"""A page in a real browser, opened from the file system."""

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from selenium import webdriver
from selenium.webdriver.common.action_chains import ActionChains
from selenium.webdriver.common.by import By
from selenium.webdriver.remote.webelement import WebElement
from selenium.webdriver.support.ui import WebDriverWait

CHROMIUM = shutil.which("chromium") or shutil.which("google-chrome")
DRIVER = shutil.which("chromedriver")
needs_browser = pytest.mark.skipif(
    CHROMIUM is None or DRIVER is None,
    reason="needs a browser and its driver (Debian: apt install chromium chromium-driver)",
)


@contextmanager
def browser() -> Iterator[webdriver.Chrome]:
    """Chromium without a screen; its log is kept."""
    options = webdriver.ChromeOptions()
    options.binary_location = str(CHROMIUM)
    for argument in ("--headless=new", "--disable-dev-shm-usage", "--window-size=1400,950", "--lang=en"):
        options.add_argument(argument)
    if os.getuid() == 0:
        options.add_argument("--no-sandbox")
    options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
    driver = webdriver.Chrome(options=options, service=webdriver.ChromeService(str(DRIVER)))
    try:
        yield driver
    finally:
        driver.quit()


class Page:
    """One of the project's pages."""

    def __init__(self, driver: webdriver.Chrome, page: Path) -> None:
        self.driver = driver
        driver.get("about:blank")
        driver.get(page.as_uri())
        self.until("document.body.dataset.ready === 'true'")

    def until(self, condition: str, seconds: float = 20) -> None:
        """Wait for an expression of JavaScript to be true."""
        WebDriverWait(self.driver, seconds, 0.02).until(
            lambda driver: driver.execute_script(f"return {condition}")
        )

    def run(self, script: str, *values: Any) -> Any:
        """What a script returns, given `arguments`."""
        return self.driver.execute_script(script, *values)

    def all(self, selector: str) -> list[WebElement]:
        """The elements that a selector finds."""
        return list(self.driver.find_elements(By.CSS_SELECTOR, selector))

    def one(self, selector: str) -> WebElement:
        """The first element that a selector finds."""
        return self.driver.find_element(By.CSS_SELECTOR, selector)

    def keys(self, *keys: str) -> None:
        """Press keys."""
        ActionChains(self.driver).send_keys(*keys).perform()

    def focused(self) -> WebElement:
        """What has the focus."""
        return self.driver.switch_to.active_element

    def said(self) -> str:
        """What a screen reader is told."""
        return str(self.run("return document.getElementById('said').textContent"))

    def requests(self) -> int:
        """What the page has asked a network for."""
        return int(self.run("return performance.getEntriesByType('resource').length"))

    def errors(self) -> list[Any]:
        """What the browser's log complains of."""
        return [entry for entry in self.driver.get_log("browser") if entry["level"] == "SEVERE"]
