"""Sphinx's settings; `make docs` builds with warnings as errors and nothing is fetched."""

from importlib import metadata

project = "bayesgrove"
author = "the bayesgrove developers"
copyright = "2026, the bayesgrove developers"
release = version = metadata.version("bayesgrove")

extensions = ["myst_parser"]
source_suffix = {".md": "markdown"}
exclude_patterns = ["_build"]
myst_heading_anchors = 3
nitpicky = True

html_theme = "furo"
html_title = f"bayesgrove {release}"
