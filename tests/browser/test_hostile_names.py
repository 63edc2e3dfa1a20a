"""A hundred hostile names of features, items and categories: none is executed, none breaks the page or the CSV file."""

import csv
import dataclasses
import io
from pathlib import Path

import numpy as np
import pytest

from bayesgrove.core.table import Table
from bayesgrove.inference.description import describe_rows
from bayesgrove.inference.exhibits import GridExhibit, HeatMapExhibit, LinesExhibit
from reference.planted import planted_result

pytestmark = pytest.mark.browser

SEEDS = (
    "<script>window.harmed=1</script>",
    "</script><script>window.harmed=1</script>",
    "<img src=x onerror=window.harmed=1>",
    "<svg onload=window.harmed=1>",
    "\"><img src=x onerror='window.harmed=1'>",
    "' onmouseover='window.harmed=1",
    "javascript:window.harmed=1",
    "<iframe srcdoc='<script>parent.harmed=1</script>'>",
    "<!--",
    "-->",
    "]]>",
    "{{constructor.constructor('window.harmed=1')()}}",
    "${window.harmed=1}",
    "`window.harmed=1`",
    "\\u003cscript\\u003ewindow.harmed=1\\u003c/script\\u003e",
    "&lt;script&gt;window.harmed=1&lt;/script&gt;",
    "=1+1",
    '=HYPERLINK("http://evil.example","x")',
    "+cmd|' /C calc'!A0",
    "-2+3",
    "@SUM(1)",
    "\t=1+1",
    "\r=1+1",
    " =1+1",
    'a,b"c\nd',
    "\u202eright to left",
    "\u2066isolated\u2069",
    "\u2028line\u2029separators",
    "\x00\x07\x1b[31m",
    "\ufeffbom\u200bzero width",
    "a" * 10_000,
    "<b>" * 3_000,
    "Z\u0351\u0366\u0301" * 400,
    "__proto__",
    "constructor",
    "",
    " ",
    "@@PROGRAM@@ @@DATA@@",
    "%00%3Cscript%3E",
    "🦊" * 50,
)
NAMES = tuple(f"{seed}{'' if i < len(SEEDS) else i}" for i in range(100) for seed in (SEEDS[i % len(SEEDS)],))


@pytest.fixture
def hostile():
    """A hundred rows, a hundred columns, a category column; every name from the list."""
    assert len(NAMES) == 100
    result = planted_result((40, 35, 25), names=NAMES)
    rng = np.random.default_rng(0)
    values = rng.normal(size=(100, 100)) + 3.0 * result.labels[:, None]
    values[:, 0] = np.arange(100) % len(SEEDS)
    table = Table(values, NAMES, ("category",) + ("float",) * 99, {0: SEEDS})
    described = describe_rows(table.take, 100, result.tree, result.labels)
    exhibits = (
        GridExhibit(title=NAMES[0], note=NAMES[1], columns=NAMES[:5], rows=[NAMES[5:10], NAMES[10:15]]),
        HeatMapExhibit(
            title=NAMES[2], values=rng.random((40, 40)), row_names=NAMES[:40], column_names=NAMES[40:80], unit=NAMES[3]
        ),
        LinesExhibit(
            title=NAMES[4], x=np.arange(3.0), series={NAMES[0]: np.arange(3.0)}, x_label=NAMES[1], y_label=NAMES[2]
        ),
    )
    settings = {name: name for name in NAMES}
    return dataclasses.replace(
        result,
        description=described,
        feature_names=NAMES,
        exhibits=exhibits,
        model=NAMES[0],
        provenance={"settings": settings, **dict.fromkeys(NAMES[:20], NAMES[1])},
    )


def test_no_name_is_executed_or_breaks_the_page(open_page, hostile):
    page = open_page(hostile)
    for part in ("overview", "tree", "clusters", "pairs", "rows", "exhibits", "settings"):
        assert page.locator(f"#{part}").is_visible()
    for selector in ("#tree canvas", "#pairs canvas", "#rows canvas"):
        box = page.locator(selector).first.bounding_box()
        for share in (0.2, 0.5, 0.8):  # tips with names
            page.locator(selector).first.hover(
                position={"x": share * box["width"], "y": share * min(box["height"], 400)}
            )
    for row in page.locator("#clusters tbody tr").all()[:3]:
        row.click()
    assert page.evaluate("window.harmed") is None
    assert page.locator("main img[src='x'], main iframe, main svg[onload], main b").count() == 0
    assert page.evaluate("document.scrollingElement.scrollWidth <= window.innerWidth")


def test_hostile_names_can_be_searched_for(open_page, hostile):
    page = open_page(hostile)
    box = page.get_by_role("searchbox").first
    for name in ("<script>window", "onerror", "=HYPERLINK", "__proto__", "🦊"):
        box.fill(name)
        box.press("Enter")
        assert page.evaluate("window.harmed") is None
    assert "of" in page.locator("#controls").inner_text()


def test_the_csv_file_stays_inert(open_page, hostile):
    page = open_page(hostile)
    with page.expect_download() as waiting:
        page.get_by_role("button", name="Download labels").click()
    text = Path(waiting.value.path()).read_bytes().decode("utf-8")
    rows = list(csv.reader(io.StringIO(text)))
    assert rows[0] == ["row", "name", "cluster"]
    assert len(rows) == 101
    for (number, name, cluster), label in zip(rows[1:], hostile.labels.tolist(), strict=True):
        assert (number, cluster) == (number, str(label))
        assert not name.lstrip().startswith(("=", "+", "-", "@")), name
        assert not name.startswith(("\t", "\r")), name
    named = {int(number): name for number, name, _ in rows[1:]}
    assert named[0] == NAMES[0]
    assert named[SEEDS.index("=1+1")] == "'=1+1"
