"""Golden posteriors: problems small enough to solve exactly, or run for long, as JSON documents anyone can test with.

`README.md` says what is here, `docs/golden-posteriors.md` describes the format. The exact numbers are made by plain
Python that shares no code with the samplers of the package.
"""

from pathlib import Path

FOLDER = Path(__file__).parent
DOCUMENTS = FOLDER / "documents"
"""Where the documents lie, one file per problem."""
