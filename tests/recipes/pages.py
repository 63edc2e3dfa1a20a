"""Code blocks of the site's pages, run as a reader would run them."""

import re
from pathlib import Path
from typing import Any

DOCS = Path(__file__).resolve().parents[2] / "docs"
HEADING = re.compile(r"^#+ (.*)$", re.MULTILINE)
BLOCK = re.compile(r"^```python\n(.*?)^```$", re.DOTALL | re.MULTILINE)


def run_section(page: str, heading: str, names: dict[str, Any]) -> dict[str, Any]:
    """Run the Python blocks below a heading, up to the next one, with these names; the names there are then."""
    text = (DOCS / page).read_text(encoding="utf-8")
    starts = [*HEADING.finditer(text)]
    (number,) = (i for i, found in enumerate(starts) if found[1] == heading)
    end = starts[number + 1].start() if number + 1 < len(starts) else len(text)
    blocks = BLOCK.findall(text, starts[number].end(), end)
    assert blocks, f"no Python below {heading!r} of {page}"
    for block in blocks:
        exec(compile(block, f"{page}: {heading}", "exec"), names)
    return names
