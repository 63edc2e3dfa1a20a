"""From a document to one HTML file that asks nothing of anyone: scripts, styles and data are inside."""

import base64
import hashlib
import html
import re
from functools import cache
from importlib import resources
from pathlib import Path
from typing import Any

from bayesgrove.inference.result import Result
from bayesgrove.io import atomic
from bayesgrove.report.document import report_document
from bayesgrove.report.encode import safe_json

SCRIPTS = (
    "numbers.js",
    "state.js",
    "controls.js",
    "tree_layout.js",
    "tree_draw.js",
    "tree_side.js",
    "tree.js",
    "cells.js",
    "figures.js",
    "pairs.js",
    "rows.js",
    "clusters.js",
    "chains.js",
    "exhibits.js",
    "views_draw.js",
    "views.js",
    "overview.js",
    "live.js",
    "main.js",
)
"""Joined in this order into one function, so that none of their names is global."""


STYLES = ("page.css", "tree.css", "clusters.css", "maps.css", "chains.css", "views.css")


def write_report(result: Result, path: str | Path, *, title: str | None = None) -> Path:
    """Write the page of a result, whole or not at all; gives the path."""
    place = Path(path)
    atomic.write_text(place, page_html(report_document(result, title)))
    return place


def page_html(document: dict[str, Any], *, live: bool = False) -> str:
    """The page of a document; a live page may ask its own server for more."""
    library, program, style = asset("d3.min.js"), _program(), "\n".join(asset(name) for name in STYLES)
    policy = "; ".join(
        (
            "default-src 'none'",
            f"script-src {_hash(library)} {_hash(program)}",
            f"style-src {_hash(style)}",
            "img-src data: blob:",
            "connect-src 'self'" if live else "connect-src 'none'",
            "base-uri 'none'",
            "form-action 'none'",
        )
    )
    parts = {
        "POLICY": policy,
        "TITLE": html.escape(str(document["title"]).encode("utf-8", "replace").decode("utf-8")),  # half pairs
        "STYLE": style,
        "LICENCE": html.escape(asset("d3-LICENSE.txt")),
        "DATA": safe_json(document),
        "LIBRARY": library,
        "PROGRAM": program,
    }
    # One pass: what is put in is not searched for marks again.
    return re.sub(r"@@([A-Z]+)@@", lambda mark: parts[mark[1]], asset("page.html"))


def _program() -> str:
    joined = "\n".join(asset(name) for name in SCRIPTS)
    return f'"use strict";\n(function () {{\n{joined}\n}})();\n'


def _hash(text: str) -> str:
    digest = hashlib.sha256(text.encode("utf-8")).digest()
    return f"'sha256-{base64.b64encode(digest).decode('ascii')}'"


@cache
def asset(name: str) -> str:
    """A file that is shipped with the package."""
    return resources.files("bayesgrove.report").joinpath("assets", name).read_text("utf-8")
