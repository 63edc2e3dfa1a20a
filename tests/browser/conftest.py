"""A browser for all tests here, and pages in it that must not complain."""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from bayesgrove.inference.result import Result
from bayesgrove.report import write_report

CHROMIUM = Path("/usr/bin/chromium")


@pytest.fixture(scope="session")
def browser() -> Iterator[Any]:
    """Debian's Chromium, driven by Playwright."""
    playwright = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
    if not CHROMIUM.exists():
        pytest.skip("Debian's chromium is not installed")
    with playwright.sync_playwright() as driver:
        started = driver.chromium.launch(executable_path=str(CHROMIUM), args=["--no-sandbox"])
        yield started
        started.close()


@pytest.fixture
def open_page(browser: Any, tmp_path: Path) -> Iterator[Callable[[Result | Path], Any]]:
    """Open a result's page from its file; at the end no page may have complained or asked anyone for anything."""
    complaints: list[str] = []
    context = browser.new_context(viewport={"width": 1200, "height": 900})

    def opened(shown: Result | Path) -> Any:
        path = shown if isinstance(shown, Path) else write_report(shown, tmp_path / "page.html")
        page = context.new_page()
        page.on("console", lambda said: complaints.append(said.text) if said.type in ("error", "warning") else None)
        page.on("pageerror", lambda error: complaints.append(str(error)))
        page.on("request", lambda asked: complaints.append(asked.url) if _is_outside(asked.url) else None)
        page.goto(f"file://{path}")
        page.wait_for_selector("html[data-ready=yes]")
        return page

    yield opened
    context.close()
    assert complaints == []


def _is_outside(url: str) -> bool:
    return not url.startswith(("file:", "data:", "blob:"))
