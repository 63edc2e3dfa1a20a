"""What a notebook shows of a fitted model below its settings: the answers and the tree."""

from html import escape

from bayesgrove.inference.overview import cluster_certainty, count_law
from bayesgrove.inference.result import Result
from bayesgrove.report import words


def result_html(result: Result) -> str:
    """How many clusters, how sure, whether to trust it, and the top of the tree."""
    sentences = (
        words.how_many(result, count_law(result)),
        words.how_sure(result, cluster_certainty(result)),
        words.whether_to_trust(result),
    )
    paragraphs = "".join(f'<p style="margin:.2em 0">{escape(sentence)}</p>' for sentence in sentences)
    return f'<div style="max-width:60em">{paragraphs}{result.tree._repr_html_()}</div>'
