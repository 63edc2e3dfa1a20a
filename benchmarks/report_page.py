"""The page of a fit: its size, what writing it takes, and what a browser needs until it is ready."""

import importlib.util
import shutil
import statistics
import tempfile
import time
from pathlib import Path
from typing import Any

import bayesgrove
from bayesgrove.datasets import make_benchmark_blobs

SIZES, QUICK_SIZES = (1_000, 20_000), (100,)


def run(constants: dict[str, float], arguments: Any) -> dict[str, Any]:
    """One row a number of rows."""
    sizes = arguments.sizes or (QUICK_SIZES if arguments.quick else SIZES)
    return {"rows": [_row(n, arguments.repeats) for n in sizes]}


def _row(n: int, repeats: int) -> dict[str, Any]:
    model = bayesgrove.BHC(random_state=0).fit(make_benchmark_blobs("separated", n, 10, random_state=0).X)
    seconds = []
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "report.html"
        for _ in range(repeats):
            start = time.process_time()
            model.report(path)
            seconds.append(time.process_time() - start)
        size = path.stat().st_size
        row = {"n": n, "who": "BHC", "cpu_seconds": statistics.median(seconds), "megabytes": size / 1e6}
        return {**row, **_in_a_browser(path, repeats)}


def _in_a_browser(path: Path, repeats: int) -> dict[str, Any]:
    """Processor time of the page's own thread until it says that it is ready, or why that is not known."""
    chromium = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
    if chromium is None or importlib.util.find_spec("playwright") is None:
        return {"note": "not measured: a browser needs chromium on the path and the package playwright"}
    from playwright.sync_api import sync_playwright

    with sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
        seconds = [_seconds_until_ready(browser, path) for _ in range(repeats)]
        browser.close()
    return {"browser_cpu_seconds": statistics.median(seconds)}


def _seconds_until_ready(browser: Any, path: Path) -> float:
    """Of one page in a context of its own; not by the clock, for others may use the machine."""
    page = browser.new_page(viewport={"width": 1200, "height": 900})
    session = page.context.new_cdp_session(page)
    session.send("Performance.enable", {"timeDomain": "threadTicks"})
    page.goto(path.as_uri())
    page.wait_for_selector("html[data-ready=yes]")
    page.wait_for_selector("#tree-canvas[data-shown]")
    metrics = {entry["name"]: entry["value"] for entry in session.send("Performance.getMetrics")["metrics"]}
    page.close()
    return float(metrics["TaskDuration"])
