"""The content of a page: a result in JSON's types, bounded in size whatever the data.

`docs/report-data.md` describes every field; the scripts of `assets/` read nothing else.
"""

from typing import Any

from bayesgrove.inference.result import Result
from bayesgrove.inference.views import view_result
from bayesgrove.plot.colours import PALETTE
from bayesgrove.report import words
from bayesgrove.report.chains import chains_document
from bayesgrove.report.exhibits import exhibit_document
from bayesgrove.report.likelihoods import column_rows, likelihood_rows
from bayesgrove.report.parts import Bounds, bounds_of_view, hierarchy_document
from bayesgrove.report.views import shown_views, views_document

FORMAT = 1


def report_document(result: Result, title: str | None = None) -> dict[str, Any]:
    """Everything a page shows of a result; of several views the first."""
    shown = view_result(result, 0) if result.views else result
    bounds = bounds_of_view(len(shown_views(result))) if result.views else Bounds()
    return {
        "format": FORMAT,
        "title": title or f"{result.model}: {words.in_short(result)}",
        "model": result.model,
        "palette": list(PALETTE),
        **hierarchy_document(shown, bounds),
        "views": views_document(result, bounds) if result.views else None,
        "chains": chains_document(result),
        "exhibits": [exhibit_document(exhibit) for exhibit in result.exhibits],
        "settings": _settings(result),
        "provenance": _provenance(result),
    }


def _settings(result: Result) -> list[list[str]]:
    given = result.provenance.get("settings", {})
    rows = sorted([str(name), str(value)] for name, value in given.items())
    return [*rows, *column_rows(result.columns), *likelihood_rows(result.likelihood, result.feature_names)]


def _provenance(result: Result) -> list[list[str]]:
    rows: list[list[str]] = []
    for name, value in {**result.provenance, **result.details}.items():
        if name == "settings":
            continue
        if isinstance(value, dict):
            rows.extend([f"{name}: {key}", str(inner)] for key, inner in value.items())
        else:
            rows.append([str(name), str(value)])
    return sorted(rows)  # files keep no order
