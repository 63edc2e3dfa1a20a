"""Sphinx's settings; `make docs` builds with warnings as errors and nothing is fetched, then or when read."""

import os
import sys
from importlib import metadata
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))  # mathml
os.environ.setdefault("MPLBACKEND", "agg")

project = "bayesgrove"
author = "the bayesgrove developers"
copyright = "2026, the bayesgrove developers"
release = version = metadata.version("bayesgrove")

extensions = [
    "myst_parser",
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "numpydoc",
    "sphinx_gallery.gen_gallery",
    "mathml",
]
source_suffix = {".md": "markdown", ".rst": "restructuredtext"}
exclude_patterns = ["_build", "results/**/*.md", "gallery/**/*.ipynb", "gallery/**/*.py"]
nitpicky = True

myst_enable_extensions = ["dollarmath"]
myst_heading_anchors = 3

# Docstrings: `names` are code, types stand in the sections of numpydoc, methods under their class.
default_role = "code"
autosummary_generate = True
autosummary_ignore_module_all = False
autodoc_typehints = "none"
autodoc_member_order = "bysource"
autodoc_default_options = {"members": True, "inherited-members": True}
numpydoc_show_class_members = False

html_theme = "furo"
html_title = f"bayesgrove {release}"
html_math_renderer = "mathml"
html_static_path = ["static"]
html_css_files = ["extra.css"]
html_copy_source = False

sphinx_gallery_conf = {
    "examples_dirs": "../examples",
    "gallery_dirs": "gallery",
    "filename_pattern": r"/plot_",
    "within_subsection_order": "FileNameSortKey",
    "abort_on_example_error": True,
    "download_all_examples": False,
    "show_signature": False,
    "write_computation_times": False,
    "min_reported_time": 1e9,
    "image_scrapers": ("matplotlib",),
    "plot_gallery": "True",
}


def is_foreign(app: Any, what: str, name: str, found: Any, skip: bool, options: Any) -> bool | None:
    """Leave out what our classes inherit from scikit-learn and Python: it is documented there."""
    home = getattr(getattr(found, "fget", found), "__module__", None) or ""
    return True if home and not home.startswith("bayesgrove") else None


def setup(app: Any) -> None:
    """Sphinx's hook."""
    app.connect("autodoc-skip-member", is_foreign)
