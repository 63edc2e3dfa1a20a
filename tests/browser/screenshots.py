"""Pictures of the report for the documentation: `make screenshots` takes them, a test compares them with the page."""

import dataclasses
import shutil
import sys
from pathlib import Path

from sklearn.datasets import load_iris

from bayesgrove import BHCC, NRMMixture
from bayesgrove.datasets import make_cross_table
from bayesgrove.inference.result import Result
from bayesgrove.likelihoods import GaussianFull
from bayesgrove.report import write_report

FOLDER = Path(__file__).parents[2] / "docs" / "images"
PARTS = ("overview", "tree", "clusters", "pairs", "rows", "chains")
SIZE = {"width": 1000, "height": 800}
TALL = {"width": 1000, "height": 1_600}
"""Parts are taken in a window that holds each of them."""
PHONE = {"width": 360, "height": 740}


def showcase() -> Result:
    """Three kinds of iris, by a mixture of normal laws; converged."""
    iris = load_iris(as_frame=True)
    model = NRMMixture(likelihood=GaussianFull(), n_draws=1_000, thin=5, random_state=1).fit(iris.data)
    kinds = [str(iris.target_names[kind]) for kind in iris.target]
    return model.result_.with_names(tuple(f"{kind} {i}" for i, kind in enumerate(kinds)))


def showcase_of_views() -> Result:
    """Counts of three views."""
    made = make_cross_table(100, (12, 8, 4), (4, 3, 2), n_trials=20, random_state=0)
    return BHCC("poisson", random_state=0).fit(made.X).result_


def take_views(browser, result: Result, folder: Path) -> Path:
    """A picture of views side by side; gives its file."""
    page_file = write_report(_without_time(result), folder / "page.html")
    context = browser.new_context(viewport=TALL, color_scheme="light", reduced_motion="reduce")
    page = context.new_page()
    page.goto(page_file.as_uri())
    page.wait_for_selector("#tree-canvas[data-shown]")
    page.evaluate("document.getElementById('controls').style.position = 'static'")
    page.locator("#views").screenshot(path=folder / "report-views.png")
    context.close()
    page_file.unlink()
    return folder / "report-views.png"


def take(browser, result: Result, folder: Path) -> list[Path]:
    """One picture of every part, one in the dark, one as a phone has it; gives their files."""
    page_file = write_report(_without_time(result), folder / "page.html", title="Irises, by a mixture of normal laws")
    taken = []
    for name, viewport, scheme in (("", TALL, "light"), ("dark", SIZE, "dark"), ("phone", PHONE, "light")):
        context = browser.new_context(viewport=viewport, color_scheme=scheme, reduced_motion="reduce")
        page = context.new_page()
        page.goto(page_file.as_uri())
        page.wait_for_selector("#tree-canvas[data-shown]")
        # The bar would stand before a part that is taller than the window.
        page.evaluate("document.getElementById('controls').style.position = 'static'")
        parts = {part: page.locator(f"#{part}") for part in PARTS} if not name else {name: page}
        for part, shown in parts.items():
            taken.append(folder / f"report-{part}.png")
            shown.screenshot(path=taken[-1])
        context.close()
    page_file.unlink()
    return taken


def _without_time(result: Result) -> Result:
    """Pictures show no time, else they would never be current."""
    return dataclasses.replace(result, provenance={**result.provenance, "time": "today"})


def main() -> None:
    """Take all pictures anew."""
    from playwright.sync_api import sync_playwright

    place = shutil.which("chromium")
    if place is None:
        sys.exit("chromium is not installed")
    with sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=place, args=["--no-sandbox"])
        for path in [*take(browser, showcase(), FOLDER), take_views(browser, showcase_of_views(), FOLDER)]:
            print(path.name, path.stat().st_size)
        browser.close()


if __name__ == "__main__":
    main()
