"""A real browser, pages opened from files in it, and results made by hand in the sizes that pages promise to bear.

Tests skip with a reason where Playwright or Chromium is missing.
"""

import shutil
from pathlib import Path

import numpy as np
import pytest

from bayesgrove.core.table import table_from_array
from bayesgrove.inference.description import describe_rows
from bayesgrove.inference.result import Result
from bayesgrove.report import write_report
from bayesgrove.trees import Tree


@pytest.fixture(scope="session")
def browser():
    """Chromium without a window."""
    api = pytest.importorskip("playwright.sync_api", reason="browser tests need the package playwright")
    place = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
    if place is None:
        pytest.skip("browser tests need chromium on the path")
    with api.sync_playwright() as driver:
        chromium = driver.chromium.launch(executable_path=place, args=["--no-sandbox"])
        yield chromium
        chromium.close()


@pytest.fixture
def open_page(browser, tmp_path):
    """Open a result, or a page that is written already; complaints of the page fail the test when it ends."""
    complaints, contexts = [], []

    def note_request(request):
        if not request.url.startswith(("file:", "data:", "blob:")):
            complaints.append(f"request to {request.url}")

    def opened(shown, *, width=1200, height=900, scheme="light", prepare=None):
        path = shown if isinstance(shown, Path) else write_report(shown, tmp_path / "page.html")
        context = browser.new_context(
            viewport={"width": width, "height": height}, color_scheme=scheme, reduced_motion="reduce"
        )
        contexts.append(context)
        page = context.new_page()
        page.on("console", lambda said: complaints.append(said.text) if said.type in ("error", "warning") else None)
        page.on("pageerror", lambda error: complaints.append(str(error)))
        page.on("request", note_request)
        if prepare is not None:
            prepare(page)
        page.goto(path.as_uri())
        page.wait_for_selector("html[data-ready=yes]")
        page.wait_for_selector("#tree-canvas[data-shown]")
        return page

    yield opened
    for context in contexts:
        context.close()
    assert complaints == []


def paired_merges(rng, n_leaves):
    """Merges of neighbours in a random order of leaves, level by level; with the level of each."""
    live = rng.permutation(n_leaves).tolist()
    merges, levels, level = [], [], 0
    while len(live) > 1:
        joined = []
        for a, b in zip(live[::2], live[1::2], strict=False):
            joined.append(n_leaves + len(merges))
            merges.append((a, b))
            levels.append(level)
        live = joined + live[len(live) - len(live) % 2 :]
        level += 1
    return np.array(merges).reshape(-1, 2), np.array(levels)


def result_of(tree, labels, description=None):
    """A result with nothing but a tree, its labels and what is known of the rows."""
    return Result(
        model="made by hand",
        labels=labels,
        tree=tree,
        log_evidence=None,
        likelihood="none",
        feature_names=("a", "b"),
        provenance={},
        description=description,
    )


@pytest.fixture
def made_result():
    """Results of any size: a random tree with odds that fall towards the root, and two columns that tell clusters."""

    def made(n_leaves, *, seed=0, names=None, has_columns=False):
        rng = np.random.default_rng(seed)
        merges, levels = paired_merges(rng, n_leaves)
        top = levels.max(initial=0)
        odds = 1.5 * (0.6 * top - levels) + rng.normal(0.0, 1.0, levels.size)
        tree = Tree.from_merges(merges, odds, leaf_labels=names)
        labels = tree.cut(probability=0.5)
        if not has_columns:
            return result_of(tree, labels)
        telling, noise = labels + rng.normal(0, 0.1, n_leaves), rng.normal(0, 1, n_leaves)
        table = table_from_array(np.column_stack([telling, noise]), ("a", "b"))
        return result_of(tree, labels, describe_rows(table.take, 2, tree, labels))

    return made


@pytest.fixture
def plain_result():
    """The result of a tree and labels."""
    return result_of
