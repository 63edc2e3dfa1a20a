"""What a notebook shows of a fitted model below its settings: the answers and the tree of the clusters."""

from html import escape

from bayesgrove.inference.overview import cluster_certainty, count_distribution
from bayesgrove.inference.result import Result
from bayesgrove.inference.views import view_count_law, view_result
from bayesgrove.plot.colours import cluster_colours
from bayesgrove.report import words
from bayesgrove.trees.html import folded_to_html


def result_html(result: Result) -> str:
    """How many clusters, how sure, whether to trust it, and the tree of the clusters; of several views the largest."""
    views: tuple[str, ...] = ()
    if result.views:
        views = (words.how_many_views(result, view_count_law(result)), f"In {result.views[0].name}, the largest:")
        result = view_result(result, 0)  # draws of views are of columns, not of rows
    sentences = (
        *views,
        words.how_many(result, count_distribution(result)),
        words.how_sure(result, cluster_certainty(result)),
        words.whether_to_trust(result),
    )
    paragraphs = "".join(f'<p style="margin:.2em 0">{escape(sentence)}</p>' for sentence in sentences)
    folded = folded_to_html(result.tree, result.labels, cluster_colours(result.tree, result.labels))
    return f'<div style="max-width:60em">{paragraphs}{folded}</div>'
