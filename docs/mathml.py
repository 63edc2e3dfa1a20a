"""Formulas as MathML, which browsers draw themselves: Sphinx's own renderer would load a script from the network."""

import re
from typing import Any

from docutils import nodes
from docutils.utils.math import MathError
from docutils.utils.math.latex2mathml import tex2mathml
from sphinx.application import Sphinx
from sphinx.errors import ExtensionError

APPLIED = re.compile(r"(<mo>&ApplyFunction;</mo>)(?=\s*<m(?:i|sub|frac|under))")
"""Between the name of a function and a letter or fraction, which browsers put too close to it."""


def as_mathml(node: nodes.Node, *, is_block: bool) -> str:
    """The markup of a formula; one that cannot be translated stops the build."""
    try:
        markup = str(tex2mathml(node.astext(), as_block=is_block))
    except MathError as error:
        raise ExtensionError(f"{node.astext()!r} is no formula that docutils can translate: {error}") from error
    return APPLIED.sub(r'\1<mspace width="0.17em"></mspace>', markup)


def visit_inline(writer: Any, node: nodes.math) -> None:
    """A formula within a line."""
    writer.body.append(as_mathml(node, is_block=False))
    raise nodes.SkipNode


def visit_block(writer: Any, node: nodes.math_block) -> None:
    """A formula of its own."""
    writer.body.append(f'<div class="math">{as_mathml(node, is_block=True)}</div>')
    raise nodes.SkipNode


def setup(app: Sphinx) -> dict[str, bool]:
    """Register the renderer."""
    app.add_html_math_renderer("mathml", (visit_inline, None), (visit_block, None))
    return {"parallel_read_safe": True, "parallel_write_safe": True}
