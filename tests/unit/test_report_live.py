"""The server behind `bayesgrove watch`: a page and its news under a secret address; a watcher that never blocks."""

import http.client
import json
import threading
import time
from urllib.parse import urlsplit

import pytest

from bayesgrove.core.errors import InvalidFileError, InvalidSettingError
from bayesgrove.report.live import PageServer, Watcher

pytestmark = pytest.mark.unit


class Run:
    """A run that the test writes."""

    def __init__(self):
        self.mark, self.document, self.problem, self.n_drawn_up = 0, None, None, 0

    def look(self):
        if self.problem is not None:
            raise self.problem
        return {"state": "running", "draws": self.mark}, self.mark

    def draw_up(self):
        self.n_drawn_up += 1
        if self.problem is not None:
            raise self.problem
        return self.document


@pytest.fixture
def run():
    return Run()


@pytest.fixture
def watcher(run):
    return Watcher(run.look, run.draw_up)


@pytest.fixture
def server(watcher):
    with PageServer(watcher, "waiting") as made:
        thread = threading.Thread(target=made.serve_forever, kwargs={"poll_interval": 0.02})
        thread.start()
        yield made
        made.shutdown()
        thread.join()


def ask(server, path, *, method="GET", host=None):
    place = urlsplit(server.url)
    connection = http.client.HTTPConnection(place.hostname, place.port, timeout=10)
    connection.request(method, path, headers={} if host is None else {"Host": host})
    answer = connection.getresponse()
    content = answer.read()
    connection.close()
    return answer, content


def step(watcher):
    watcher.look_again()
    watcher.draw_up_again()


def test_news_come_once_for_each_version(run, watcher):
    assert watcher.news(-1) == {"version": 0, "status": {"state": "looking"}, "document": None}
    run.mark, run.document = 1, {"title": "one"}
    step(watcher)
    assert watcher.news(0) == {"version": 1, "status": {"state": "running", "draws": 1}, "document": {"title": "one"}}
    assert watcher.news(1)["document"] is None


def test_a_document_is_drawn_up_only_when_something_is_new(run, watcher):
    run.mark, run.document = 1, {"title": "one"}
    for _ in range(3):
        step(watcher)
    assert run.n_drawn_up == 1
    run.mark = 2
    step(watcher)
    assert (run.n_drawn_up, watcher.news(-1)["version"]) == (2, 2)


def test_steps_follow_so_soon_that_draws_are_shown_within_three_seconds(run, watcher, server):
    """By the pauses alone: between looks, until a document is begun, between questions of the page."""
    run.mark, run.document = 1, {"title": "one"}
    looks, documents = watcher.look_again(), watcher.draw_up_again()
    waits_for_a_mark = watcher.draw_up_again()
    _, content = ask(server, urlsplit(server.url).path)
    questions = float(content.partition(b'"seconds":')[2].partition(b",")[0])
    assert 0.0 < looks + max(waits_for_a_mark, documents - looks) + questions < 2.5


def test_what_cannot_be_read_is_said_and_the_last_document_stays(run, watcher):
    run.mark, run.document = 1, {"title": "one"}
    step(watcher)
    run.problem = InvalidFileError("chain-0.log is damaged", path="chain-0.log")
    step(watcher)
    assert watcher.news(0)["status"] == {"state": "unreadable", "words": "chain-0.log is damaged"}
    assert watcher.news(0)["document"] == {"title": "one"}
    run.problem, run.mark, run.document = None, 2, {"title": "two"}
    step(watcher)
    assert watcher.news(1) == {"version": 2, "status": {"state": "running", "draws": 2}, "document": {"title": "two"}}


def test_status_comes_while_a_document_takes_long(run):
    released = threading.Event()
    watcher = Watcher(run.look, lambda: released.wait(20) and {"title": "late"})
    watcher.start()
    run.mark = 7
    deadline = time.monotonic() + 10
    while watcher.news(0)["status"].get("draws") != 7 and time.monotonic() < deadline:
        time.sleep(0.02)
    assert watcher.news(0) == {"version": 0, "status": {"state": "running", "draws": 7}, "document": None}
    released.set()
    watcher.stop()
    assert watcher.news(0)["document"] == {"title": "late"}


def test_the_page_waits_and_then_has_the_document(run, watcher, server):
    answer, content = ask(server, urlsplit(server.url).path)
    assert answer.status == 200
    assert answer.headers["Content-Type"] == "text/html; charset=utf-8"
    assert b'"waiting":true' in content
    assert b"connect-src 'self'" in content
    run.mark, run.document = 1, {"title": "first </script>"}
    step(watcher)
    _, content = ask(server, urlsplit(server.url).path)
    assert b'"waiting"' not in content.partition(b'id="data">')[2].partition(b"</script>")[0]
    assert b"first &lt;/script&gt;" in content


def test_news_are_json_and_never_stored(run, watcher, server):
    run.mark, run.document = 1, {"title": "one"}
    step(watcher)
    path = urlsplit(server.url).path
    answer, content = ask(server, f"{path}news?version=0")
    assert json.loads(content) == watcher.news(0)
    assert answer.headers["Cache-Control"] == "no-store"
    assert answer.headers["X-Content-Type-Options"] == "nosniff"
    assert json.loads(ask(server, f"{path}news?version=1")[1])["document"] is None
    for strange in ("", "?version=", "?version=-1", "?version=1e9", "?version=%D9%A3", "?version=" + "9" * 400):
        assert json.loads(ask(server, f"{path}news{strange}")[1])["document"] == {"title": "one"}


@pytest.mark.parametrize("path", ["/", "/news", "/wrong/", "/wrong/news", "//", "/..", "/%2e%2e/", "/" + "a" * 3000])
def test_without_the_token_nothing_is_found(server, path):
    answer, content = ask(server, path)
    assert (answer.status, content) == (404, b"Nothing is here.\n")


def test_nothing_but_the_page_and_its_news(server):
    path = urlsplit(server.url).path
    assert ask(server, f"{path}model.bg")[0].status == 404
    assert ask(server, f"{path}../{path}")[0].status == 404
    for method in ("POST", "PUT", "DELETE", "OPTIONS"):
        assert ask(server, path, method=method)[0].status == 501
    answer, content = ask(server, path, method="HEAD")
    assert (answer.status, content) == (200, b"")


def test_other_names_for_this_machine_are_refused(server):
    place = urlsplit(server.url)
    for host in ("evil.example", f"evil.example:{place.port}", "127.0.0.1", f"127.0.0.1:{place.port + 1}", ""):
        assert ask(server, place.path, host=host)[0].status == 404
    for host in (f"localhost:{place.port}", f"127.0.0.1:{place.port}"):
        assert ask(server, place.path, host=host)[0].status == 200


def test_addresses_are_secret_and_new_each_time(watcher):
    tokens = set()
    for _ in range(3):
        with PageServer(watcher, "x") as made:
            assert made.url.startswith("http://127.0.0.1:")
            tokens.add(made.token)
    assert len(tokens) == 3
    assert all(len(token) == 32 for token in tokens)


def test_a_port_that_is_taken_is_said(watcher):
    with (
        PageServer(watcher, "x") as first,
        pytest.raises(InvalidSettingError, match=r"cannot listen on 127\.0\.0\.1:\d+: .*Give another --port\."),
    ):
        PageServer(watcher, "x", port=first.server_address[1])
