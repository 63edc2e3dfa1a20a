"""Whether measurements look like what the model says of them: tails, repeated values, dependence inside clusters.

Cells are standardised inside the clusters (components, for dependence) that have at least 20 rows of the sample, on the
log scale for columns that are modelled there. Under the model they are then nearly independent and standard normal.

- Tails: the kurtosis of each cluster, as a standard normal score (Anscombe and Glynn 1983), pooled with weights that
  are the square roots of the sizes; one-sided. Where clusters are unions of components, heavy tails are often fitted by
  components of few rows: the unions show them.
- Values: how often a value occurs, against the number that normal clusters expect within the rounding step about it.
- Dependence: the correlation of two columns pooled over clusters (Fisher's z), where the model takes columns as
  independent inside clusters.

A check fails where its p-value, times three for the three checks and times the number of tests of its kind, is below
.05 *and* the effect is large enough to matter. Clusters were found in the same cells, so that p-values are approximate;
`tests/statistical/test_inference_misfit.py` simulates the rates of false alarms and of detection.
"""

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np
from scipy.special import ndtr, pdtrc

LEAST_ROWS = 20
"""Of a cluster that is looked at."""
FALSE_ALARMS = 0.05
LEAST_EFFECT = {"tails": 5.0, "values": 2.0, "dependence": 0.4}
"""From which on a kurtosis, a ratio of observed to expected numbers, and a correlation matter.

Clusters that overlap so much that they are found as one have kurtosis up to 4.6 and correlations up to .39 in
simulations (of unions of such, up to 5.4); neither is a misfit that another family or a full covariance would mend.
"""
SUBJECTS = {"tails": "tails", "values": "repeated values", "dependence": "dependence on other columns"}
LEAST_REPEATS = 3
"""Of a value that is looked at."""


class Checked(NamedTuple):
    """Columns whose cells are measurements, and the clusters of the rows in them."""

    cells: np.ndarray
    """(n_rows, n_columns), on the log scale where the model is."""
    names: tuple[str, ...]
    labels: np.ndarray
    """(n_rows,) the components in which the model takes cells as normal."""
    clusters: np.ndarray
    """(n_rows,) the clusters that users see."""
    shown: np.ndarray
    """(n_rows, n_columns) cells as users know them."""
    is_independent: bool
    """Whether the model takes columns as independent inside clusters."""


class Finding(NamedTuple):
    """The outcome of one check of one column."""

    check: str
    """"tails", "values" or "dependence"."""
    column: str
    other: str
    """The other column of a dependence."""
    cluster: int
    """Where it is strongest; -1 where no cluster is large enough."""
    effect: float
    """Kurtosis; observed by expected number of a value; correlation."""
    p_value: float
    """Adjusted for all tests made."""
    passed: bool
    sentence: str
    advice: str


def misfit(groups: Sequence[Checked]) -> list[Finding]:
    """All checks of all columns, those that failed first; p-values adjusted for the number of tests."""
    n_tests = {kind: 3 * sum(_n_tests(group)[kind] for group in groups) for kind in LEAST_EFFECT}
    judged = [_judged(finding, n_tests[finding.check]) for group in groups for finding in _checks(group)]
    return sorted(judged, key=lambda finding: (finding.passed, finding.p_value))


def summary(findings: Sequence[Finding]) -> str:
    """What the checks say in short; empty where there was nothing to check."""
    failed = [finding for finding in findings if not finding.passed]
    if not findings:
        return ""
    if not failed:
        return "Tails, repeated values and dependence inside clusters look as the model says."
    left = len(failed) - 1
    more = f" check() lists {left} more {'finding' if left == 1 else 'findings'}." if left else ""
    return f"{failed[0].sentence} {failed[0].advice}{more}"


def _n_tests(group: Checked) -> dict[str, int]:
    """How many tests each check makes."""
    n = len(group.names)
    n_values = sum(np.unique(cells[~np.isnan(cells)]).size for cells in group.cells.T)
    return {"tails": n, "values": n_values, "dependence": n * (n - 1) // 2 if group.is_independent else 0}


def _judged(finding: Finding, n_tests: int) -> Finding:
    """The finding with its adjusted p-value, and its words where it failed."""
    adjusted = min(1.0, finding.p_value * n_tests)
    if adjusted < FALSE_ALARMS and abs(finding.effect) >= LEAST_EFFECT[finding.check]:
        return finding._replace(p_value=adjusted, passed=False)
    sentence = f"{finding.column}: {SUBJECTS[finding.check]} inside clusters as the model says."
    return finding._replace(p_value=adjusted, passed=True, sentence=sentence, advice="")


def _checks(group: Checked) -> Iterator[Finding]:
    whole = standardised(group.cells, group.clusters)
    for j in range(len(group.names)):
        yield _tails(group, whole, j)
        yield _values(group, j)
    if group.is_independent and len(group.names) > 1:
        yield from _dependence(group, standardised(group.cells, group.labels))


def standardised(cells: np.ndarray, labels: np.ndarray) -> np.ndarray:
    """Cells minus the mean, by the standard deviation of their cluster; NaN in small clusters and constant columns."""
    out = np.full(cells.shape, np.nan)
    for k in np.unique(labels).tolist():
        rows = np.flatnonzero(labels == k)
        for j in range(cells.shape[1]):
            seen = rows[~np.isnan(cells[rows, j])]
            if seen.size >= LEAST_ROWS and np.ptp(cells[seen, j]) > 0.0:
                own = cells[seen, j]
                out[seen, j] = (own - own.mean()) / own.std(ddof=1)
    return out


def _cluster_of(group: Checked, component: int) -> int:
    """The cluster that holds most rows of a component."""
    return int(np.bincount(group.clusters[group.labels == component]).argmax())


def kurtosis_score(kurtosis: float, n: int) -> float:
    """A kurtosis of n normal values as a standard normal score (Anscombe and Glynn 1983)."""
    mean = 3.0 * (n - 1.0) / (n + 1.0)
    variance = 24.0 * n * (n - 2.0) * (n - 3.0) / ((n + 1.0) ** 2 * (n + 3.0) * (n + 5.0))
    x = (kurtosis - mean) / np.sqrt(variance)
    skew = 6.0 * (n * n - 5.0 * n + 2.0) / ((n + 7.0) * (n + 9.0))
    skew *= np.sqrt(6.0 * (n + 3.0) * (n + 5.0) / (n * (n - 2.0) * (n - 3.0)))
    a = 6.0 + 8.0 / skew * (2.0 / skew + np.sqrt(1.0 + 4.0 / skew**2))
    base = (1.0 - 2.0 / a) / (1.0 + x * np.sqrt(2.0 / (a - 4.0)))
    return float((1.0 - 2.0 / (9.0 * a) - np.cbrt(base)) / np.sqrt(2.0 / (9.0 * a)))


def _tails(group: Checked, scores: np.ndarray, j: int) -> Finding:
    """Kurtosis of one column."""
    name, seen = group.names[j], ~np.isnan(scores[:, j])
    z, sizes, kurtosis = [], [], []
    clusters = np.unique(group.clusters[seen])
    for k in clusters.tolist():
        own = scores[seen & (group.clusters == k), j]
        sizes.append(own.size)
        kurtosis.append(float(np.mean(own**4) / np.mean(own**2) ** 2))
        z.append(kurtosis_score(kurtosis[-1], own.size))
    if not sizes:
        return Finding("tails", name, "", -1, 3.0, 1.0, True, "", "")
    weight = np.sqrt(sizes)
    p_value = float(ndtr(-np.dot(weight, z) / np.sqrt(np.sum(sizes))))
    effect, worst = float(np.average(kurtosis, weights=sizes)), int(np.argmax(weight * z))
    cluster = int(clusters[worst])
    sentence = (
        f"Inside clusters, {name} has heavier tails than its family allows: kurtosis {effect:.1f}, a normal "
        f"distribution has 3 (most in cluster {cluster})."
    )
    advice = "Try another family for the column (log-gaussian for positive values), or look for outliers."
    return Finding("tails", name, "", cluster, effect, p_value, True, sentence, advice)


def _values(group: Checked, j: int) -> Finding:
    """The value of one column that occurs too often."""
    name, cells, labels = group.names[j], group.cells[:, j], group.labels
    seen = ~np.isnan(cells)
    values, counts = np.unique(cells[seen], return_counts=True)
    if values.size < 2 or counts.max() < LEAST_REPEATS:
        return Finding("values", name, "", -1, 1.0, 1.0, True, "", "")
    step, expected = np.diff(values).min(), np.zeros(values.size)
    for k in np.unique(labels[seen]).tolist():
        own = cells[seen & (labels == k)]
        scale = max(float(own.std()), step)
        upper, lower = ((values + side * 0.5 * step - own.mean()) / scale for side in (1.0, -1.0))
        expected += own.size * (ndtr(upper) - ndtr(lower))
    p_values = np.where(counts >= LEAST_REPEATS, pdtrc(counts - 1.0, np.maximum(expected, 1e-12)), 1.0)
    worst = int(np.argmin(p_values))
    here = seen & (cells == values[worst])
    cluster, effect = int(np.bincount(group.clusters[here]).argmax()), float(counts[worst] / max(expected[worst], 1.0))
    shown = group.shown[np.flatnonzero(here)[0], j]
    sentence = (
        f"The value {shown:.6g} of {name} occurs {counts[worst]} times, where its family "
        f"expects about {expected[worst]:.0f} (most in cluster {cluster})."
    )
    advice = "If the value stands for something else, make it a missing value; else try ordinal or zero-inflated."
    return Finding("values", name, "", cluster, effect, float(p_values[worst]), True, sentence, advice)


def _dependence(group: Checked, scores: np.ndarray) -> Iterator[Finding]:
    """Of every column, the one it is most correlated with inside clusters."""
    filled, seen = np.nan_to_num(scores), ~np.isnan(scores)
    products = filled.T @ filled
    squares = (filled**2).T @ seen.astype(float)
    correlation = products / np.sqrt(np.maximum(squares * squares.T, 1e-300))
    n_clusters = np.unique(group.labels[seen.any(axis=1)]).size
    freedom = seen.astype(float).T @ seen.astype(float) - n_clusters - 2.0
    z = np.arctanh(np.clip(correlation, -0.999999, 0.999999)) * np.sqrt(np.maximum(freedom, 0.0))
    np.fill_diagonal(z, 0.0)
    for j, name in enumerate(group.names):
        other = int(np.argmax(np.abs(z[j])))
        effect = float(correlation[j, other])
        cluster = _strongest(group, scores, j, other)
        sentence = (
            f"Inside clusters, {name} and {group.names[other]} are correlated ({effect:.2f}, most in cluster "
            f"{cluster}); the model takes them as independent."
        )
        advice = "Try a full covariance matrix (GaussianFull), or leave one of the columns out."
        p_value = float(2.0 * ndtr(-abs(z[j, other])))
        yield Finding("dependence", name, group.names[other], cluster, effect, p_value, True, sentence, advice)


def _strongest(group: Checked, scores: np.ndarray, j: int, other: int) -> int:
    """The cluster in which two columns are most correlated for its size."""
    product = np.nan_to_num(scores[:, j] * scores[:, other])
    sizes = np.bincount(group.labels, ~np.isnan(scores[:, j] * scores[:, other]))
    if not sizes.any():
        return -1
    totals = np.abs(np.bincount(group.labels, product)) / np.sqrt(np.maximum(sizes, 1.0))
    return _cluster_of(group, int(np.argmax(totals)))


def records(findings: Sequence[Finding]) -> list[dict[str, Any]]:
    """Findings as rows of a table."""
    return [finding._asdict() for finding in findings]
