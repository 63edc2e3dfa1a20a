"""A page that follows a run: a server for this machine alone that only answers questions, and never waits for a run."""

import secrets
import threading
import time
from collections.abc import Callable
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qs, urlsplit

from bayesgrove.core.errors import BayesgroveError, InvalidSettingError
from bayesgrove.report.encode import safe_json
from bayesgrove.report.page import page_html

LOOPBACK = ("127.0.0.1", "localhost", "::1")
SECONDS = 1.0
"""Between two looks at the run, and between two questions of the page."""
SHARE_OF_TIME = 0.5
"""At most so much of the time goes into drawing up documents, so that the run keeps its processors."""
HEADERS = {
    "Cache-Control": "no-store",
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Resource-Policy": "same-origin",
}


class Watcher:
    """Looks at a run again and again and keeps what a page shows of it; the document is drawn up in a second thread.

    Parameters
    ----------
    look : callable
        Gives the status in JSON's types and a mark that changes when there is something new to show; quick.
    draw_up : callable
        Gives the document of a page, or None while there is nothing to show; may take a while.
    """

    def __init__(self, look: Callable[[], tuple[dict[str, Any], Any]], draw_up: Callable[[], dict | None]) -> None:
        self._look, self._draw_up = look, draw_up
        self._lock = threading.Lock()
        self._stop = threading.Event()
        self._status: dict[str, Any] = {"state": "looking"}
        self._mark: Any = None
        self._document: dict[str, Any] | None = None
        self._drawn_mark: Any = None
        self._version = 0
        self._threads = [
            threading.Thread(target=self._keep, args=(step,), daemon=True, name=f"bayesgrove-{step.__name__}")
            for step in (self.look_again, self.draw_up_again)
        ]

    def start(self) -> None:
        """Begin, in the background."""
        for thread in self._threads:
            thread.start()

    def stop(self) -> None:
        """End; waits for a step under way."""
        self._stop.set()
        for thread in self._threads:
            thread.join()

    def news(self, version: int) -> dict[str, Any]:
        """Status, and the document unless the page has this version of it already."""
        with self._lock:
            document = self._document if version != self._version else None
            return {"version": self._version, "status": self._status, "document": document}

    def look_again(self) -> float:
        """Take in what the run is at; gives the seconds until the next look."""
        try:
            status, mark = self._look()
        except (BayesgroveError, OSError) as error:
            status, mark = {"state": "unreadable", "words": str(error)}, self._mark
        with self._lock:
            self._status, self._mark = status, mark
        return SECONDS

    def draw_up_again(self) -> float:
        """Renew the document if there is something new; gives the seconds until the next time.

        What cannot be read now may be readable at the next mark; the last document stays.
        """
        start, mark = time.monotonic(), self._mark
        if mark == self._drawn_mark:
            return SECONDS / 4
        self._drawn_mark = mark
        try:
            document = self._draw_up()
        except (BayesgroveError, OSError):
            return SECONDS
        if document is not None:
            with self._lock:
                self._document, self._version = document, self._version + 1
        return max(SECONDS, (time.monotonic() - start) * (1.0 / SHARE_OF_TIME - 1.0))

    def _keep(self, step: Callable[[], float]) -> None:
        while not self._stop.wait(step()):
            pass


class PageServer(ThreadingHTTPServer):
    """Serves one page and its news under a secret address; everything else is not found."""

    daemon_threads = True
    allow_reuse_address = True

    def __init__(self, watcher: Watcher, title: str, host: str = "127.0.0.1", port: int = 0) -> None:
        try:
            super().__init__((host, port), PageHandler)
        except (OSError, OverflowError, TypeError, ValueError) as error:  # the last two: texts that cannot name a host
            place = f"{host.encode('ascii', 'backslashreplace').decode()}:{port}"
            raise InvalidSettingError(f"cannot listen on {place}: {error}. Give another --port.") from error
        self.watcher, self.title, self.host = watcher, title, host
        self.token = secrets.token_urlsafe(24)

    @property
    def url(self) -> str:
        """Address of the page."""
        return f"http://{self.host}:{self.server_address[1]}/{self.token}/"

    def is_own_name(self, header: str | None) -> bool:
        """Whether a request was meant for us: pages of other sites can make a browser call us by another name."""
        port = self.server_address[1]
        names = {self.host, *(LOOPBACK if self.host in LOOPBACK else ())}
        return header in {f"{name}:{port}" for name in names}

    def page(self) -> str:
        """The page as it is now."""
        news = self.watcher.news(-1)
        document = news["document"] or {"title": self.title, "waiting": True}
        live = {"url": "news", "seconds": SECONDS, "version": news["version"], "status": news["status"]}
        return page_html({**document, "live": live}, live=True)


class PageHandler(BaseHTTPRequestHandler):
    """GET of the page and of its news, with the token in the path."""

    server: PageServer
    timeout = 30
    server_version, sys_version = "bayesgrove", ""

    def do_GET(self) -> None:
        """Answer, or say that there is nothing here, whatever was wrong."""
        place = urlsplit(self.path)
        _, _, after = place.path.partition("/")
        token, _, name = after.partition("/")
        is_known = secrets.compare_digest(token.encode(), self.server.token.encode())
        if not is_known or not self.server.is_own_name(self.headers.get("Host")):
            self._answer(HTTPStatus.NOT_FOUND, "text/plain", b"Nothing is here.\n")
        elif name == "":
            self._answer(HTTPStatus.OK, "text/html", self.server.page().encode("utf-8"))
        elif name == "news":
            news = self.server.watcher.news(_version(place.query))
            self._answer(HTTPStatus.OK, "application/json", safe_json(news).encode("utf-8"))
        else:
            self._answer(HTTPStatus.NOT_FOUND, "text/plain", b"Nothing is here.\n")

    do_HEAD = do_GET

    def _answer(self, status: HTTPStatus, kind: str, content: bytes) -> None:
        try:
            self.send_response(status)
            self.send_header("Content-Type", f"{kind}; charset=utf-8")
            self.send_header("Content-Length", str(len(content)))
            for name, value in HEADERS.items():
                self.send_header(name, value)
            self.end_headers()
            if self.command != "HEAD":
                self.wfile.write(content)
        except ConnectionError:  # the page was closed meanwhile
            self.close_connection = True

    def log_message(self, format: str, *arguments: Any) -> None:
        """Nothing: requests once a second would fill the terminal, and addresses hold the token."""


def _version(query: str) -> int:
    found = parse_qs(query, max_num_fields=4).get("version", ["-1"])[0]
    return int(found) if found.isascii() and found.isdigit() and len(found) < 12 else -1
