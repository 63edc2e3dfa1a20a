"""Pages of `bayesgrove watch` in a browser: they wait, follow, keep what the reader set, outlive their server."""

import threading

import pytest

from bayesgrove.report.document import report_document
from bayesgrove.report.live import PageServer, Watcher
from reference.planted import planted_result

pytestmark = pytest.mark.browser
PATIENCE = 60_000
"""Milliseconds that a busy machine may take."""


class Run:
    """A run that the test writes."""

    def __init__(self):
        self.mark, self.document, self.state = 0, None, "running"

    def look(self):
        chains = [{"chain": 0, "sweep": 10 * self.mark, "draws": self.mark, "is_running": True, "log_joint": -1.5}]
        return {"state": self.state, "words": f"Planted: {self.state}", "n_draws": 100, "chains": chains}, self.mark


@pytest.fixture
def run():
    return Run()


@pytest.fixture
def server(run):
    watcher = Watcher(run.look, lambda: run.document)
    with PageServer(watcher, "waiting for draws") as made:
        watcher.start()
        thread = threading.Thread(target=made.serve_forever, kwargs={"poll_interval": 0.02})
        thread.start()
        yield made
        made.shutdown()
        thread.join()
        watcher.stop()


@pytest.fixture
def live_page(browser, server):
    complaints = []
    context = browser.new_context(viewport={"width": 1200, "height": 900})
    page = context.new_page()
    page.on("pageerror", lambda error: complaints.append(str(error)))
    page.on(
        "request", lambda asked: None if asked.url.startswith((server.url, "blob:")) else complaints.append(asked.url)
    )
    page.goto(server.url)
    page.wait_for_selector("html[data-ready=yes]")
    yield page
    context.close()
    assert [words for words in complaints if not words.endswith("/favicon.ico")] == []


def test_a_page_waits_for_the_first_draws_and_then_shows_them(live_page, run):
    assert "waiting for draws" in live_page.locator("#title").inner_text()
    assert not live_page.locator("main").is_visible()
    run.mark, run.document = 5, report_document(planted_result(chains=(2, 20)), "first look")
    live_page.wait_for_selector("main", timeout=PATIENCE)
    assert live_page.locator("#title").inner_text() == "first look"
    live_page.wait_for_selector("#live[data-draws='5']", timeout=PATIENCE)
    assert "chain 0: 5 of 100 draws, sweep 50, log joint \N{MINUS SIGN}1.5" in live_page.locator("#live").inner_text()


@pytest.mark.parametrize("wait", [PATIENCE, pytest.param(3_000, marks=pytest.mark.slow, id="within three seconds")])
def test_new_draws_are_shown_and_the_cut_stays(live_page, run, wait):
    run.mark, run.document = 5, report_document(planted_result(chains=(2, 20)), "first look")
    live_page.wait_for_selector("main", timeout=PATIENCE)
    slider = live_page.get_by_role("slider").first
    slider.focus()
    for _ in range(3):
        slider.press("ArrowRight")
    shown = slider.input_value()
    run.mark, run.document = 9, report_document(planted_result((20, 10), chains=(2, 40)), "second look")
    live_page.wait_for_selector("#live[data-draws='9']", timeout=wait)
    live_page.wait_for_selector("html[data-version='2']", timeout=wait)
    assert live_page.locator("#title").inner_text() == "second look"
    assert live_page.get_by_role("slider").first.input_value() == shown


def test_the_end_is_said_and_a_lost_server_too(live_page, run, server):
    run.mark, run.document = 5, report_document(planted_result(chains=(2, 20)), "first look")
    live_page.wait_for_selector("main", timeout=PATIENCE)
    run.state = "stopped"
    live_page.wait_for_selector("#live[data-state=stopped]", timeout=PATIENCE)
    server.shutdown()
    server.server_close()
    live_page.wait_for_selector("#live[data-state=alone]", timeout=PATIENCE)
    assert "No answer from bayesgrove watch" in live_page.locator("#live").inner_text()
    assert live_page.locator("#title").inner_text() == "first look"
