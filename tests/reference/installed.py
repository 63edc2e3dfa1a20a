"""What an installed package has to do, run by another interpreter outside the source tree."""

import doctest
import importlib
import importlib.util
import json
import subprocess
import sys
from pathlib import Path

DOCTESTS = (
    "bayesgrove.core.table",
    "bayesgrove.io.tree_data",
    "bayesgrove.sweeps.plan",
    "bayesgrove.inference.schedule",
    "bayesgrove.estimators.saving",
)
ROWS = "id,a,b\n" + "".join(f"r{i},{i % 2 * 5 + i / 100},{i % 2}\n" for i in range(12))


def main() -> None:
    """In an empty current folder: a fit, the command line, a report, some doctests."""
    import bayesgrove as bg

    place = Path(bg.__file__).resolve()
    assert Path(sys.prefix).resolve() in place.parents, f"{place} is not the installed package"
    model = bg.BHC(likelihood="gaussian").fit([[0.0], [0.1], [5.0], [5.1]])
    assert model.labels_.tolist() == [0, 0, 1, 1]
    model.report("page.html")
    Path("data.csv").write_text(ROWS)
    command = str(Path(sys.executable).parent / "bayesgrove")
    for words in (
        ["fit", "bhc", "data.csv", "--out", "run", "--index", "id"],
        ["predict", "run", "data.csv", "-o", "new.csv"],
        ["report", "run", "-o", "run.html", "--title", "installed"],
        ["doctor"],
    ):
        subprocess.run([command, *words], check=True, capture_output=True, text=True)
    assert len(Path("new.csv").read_text().splitlines()) == 13
    for page in ("page.html", "run.html"):
        assert "d3js.org" in Path(page).read_text(encoding="utf-8"), f"{page} has no D3 in it"
    found = [doctest.testmod(importlib.import_module(name)) for name in DOCTESTS]
    assert all(result.attempted and not result.failed for result in found), found
    print(json.dumps({"python": sys.version.split()[0], "package": str(place), "version": bg.__version__}))


if __name__ == "__main__":
    main()
