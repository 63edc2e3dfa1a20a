"""Do draws agree with a document? Total variation of whole laws, z scores of everything else.

False alarms: a right sampler whose batches are much longer than its memory fails with probability at most about
`level` in all: a third for each of z scores (Bonferroni over all of them), total variation (three times its
expectation) and chi-square tests on draws so far apart that they are nearly independent.
"""

import math
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

import numpy as np

from bayesgrove.stats.testing import (
    bonferroni_z,
    chi_square_test,
    standardise,
    total_variation,
    total_variation_bound,
)
from posteriors.draws import Draws
from posteriors.series import Estimate, estimate, features, pair_estimate, slowest_time, state_codes

LEVEL = 1e-3
LEAST_EVENTS = 10.0
"""An event is compared if so many independent ones are expected, and as many of its opposite."""
THINNING = 2.0


class Score(NamedTuple):
    """A mean of the draws against the document's."""

    name: str
    expected: float
    found: float
    z: float


class LawScore(NamedTuple):
    """Frequencies of states against their law."""

    name: str
    total_variation: float
    bound: float
    p_value: float
    """Of a chi-square test on thinned draws."""


class Agreement(NamedTuple):
    """How draws agree with a document."""

    scores: list[Score]
    laws: list[LawScore]
    largest_z: float
    """What |z| of all scores together exceed with a probability of a third of the level."""
    time: float
    """Largest integrated autocorrelation time seen."""
    level: float
    """Of false alarms."""

    @property
    def agrees(self) -> bool:
        """Whether nothing is beyond its limit."""
        good = all(abs(score.z) <= self.largest_z for score in self.scores)
        level = self.level / 3.0 / max(1, len(self.laws))
        return good and all(law.total_variation <= law.bound and law.p_value > level for law in self.laws)

    @property
    def worst(self) -> Score:
        """The largest |z|."""
        return max(self.scores, key=lambda score: abs(score.z))


def compare(document: Mapping[str, Any], draws: Draws, level: float = LEVEL) -> Agreement:
    """Everything the document knows of the partitions and numbers the draws have."""
    quantities = document["quantities"]
    series = {
        f"{name}.{feature}": values
        for name in document["partitions"]
        for feature, values in features(draws.partitions[name]).items()
    } | draws.scalars
    time = slowest_time(list(series.values()))
    n_free = math.prod(draws.shape) / time
    scores = [
        *expectation_scores(quantities, series),
        *count_scores(quantities, series, n_free),
        *pair_scores(quantities, draws, n_free),
    ]
    degrees = estimate(next(iter(series.values()))).degrees
    laws = [law_score(name, law, draws, time) for name, law in quantities.get("laws", {}).items()]
    return Agreement(scores, laws, bonferroni_z(level / 3.0, max(1, len(scores)), degrees), time, level)


def z_score(found: Estimate, expected: Any, error: Any, least: Any = 0.0) -> np.ndarray:
    """Differences over the errors of both sides; the draws' own is taken to be at least `least`."""
    own = np.maximum(found.error, least)
    return standardise(found.value - np.asarray(expected), np.hypot(own, np.asarray(error)))


def expectation_scores(quantities: Mapping[str, Any], series: Mapping[str, np.ndarray]) -> Iterator[Score]:
    """Means of features and numbers."""
    for name, known in quantities["expectations"].items():
        if name in series:
            found = estimate(series[name])
            z = z_score(
                found, known["value"], known.get("error", 0.0), known.get("sd", 0.0) / math.sqrt(series[name].size)
            )
            yield Score(f"E[{name}]", known["value"], float(found.value), float(z))


def count_scores(quantities: Mapping[str, Any], series: Mapping[str, np.ndarray], n_free: float) -> Iterator[Score]:
    """Probabilities of numbers of blocks."""
    for name, known in quantities["counts"].items():
        values = series.get(f"{name}.n_blocks", series.get(f"n_{name}"))
        if values is None:
            continue
        errors = known.get("errors", [0.0] * len(known["values"]))
        for value, p, error in zip(known["values"], known["probabilities"], errors, strict=True):
            if is_frequent(p, n_free):
                found = estimate((values == value).astype(float))
                least = math.sqrt(p * (1.0 - p) / values.size)
                yield Score(f"P({name} has {value})", p, float(found.value), float(z_score(found, p, error, least)))


def pair_scores(quantities: Mapping[str, Any], draws: Draws, n_free: float) -> Iterator[Score]:
    """Probabilities that two items share a block."""
    for name, known in quantities["together"].items():
        expected = np.concatenate([np.array(row, float) for row in known["value"]])
        errors = (
            np.concatenate([np.array(row, float) for row in known["error"]]) if "error" in known else 0.0 * expected
        )
        found = pair_estimate(draws.partitions[name])
        least = np.sqrt(expected * (1.0 - expected) / math.prod(draws.shape))
        scores = z_score(found, expected, errors, least)
        places = zip(*np.tril_indices(len(known["value"]), -1), strict=True)
        for k, (i, j) in enumerate(places):
            if is_frequent(float(expected[k]), n_free):
                label = f"P({name}: {i} and {j} together)"
                yield Score(label, float(expected[k]), float(found.value[k]), float(scores[k]))


def is_frequent(p: float, n_free: float) -> bool:
    """Whether a normal law may be taken for the frequency of an event."""
    return n_free * min(p, 1.0 - p) >= LEAST_EVENTS


def law_score(name: str, law: Mapping[str, Any], draws: Draws, time: float) -> LawScore:
    """Frequencies of all states against their probabilities."""
    codes = state_codes([draws.partitions[own] for own in name.split("|")])
    place = {code: k for k, code in enumerate(law["codes"])}
    unknown = sorted(set(codes.ravel().tolist()) - set(place))
    if unknown:
        raise ValueError(f"draws have states the law of {name!r} knows, got {unknown[0]!r}. Are the items in order?")
    places = np.vectorize(place.__getitem__, otypes=[int])(codes)
    p = np.array(law["probabilities"])
    counts = np.bincount(places.ravel(), minlength=len(p))
    step = math.ceil(THINNING * time)
    thinned = np.bincount(places[:, step - 1 :: step].ravel(), minlength=len(p))
    bound = total_variation_bound(p, counts.sum(), time)
    return LawScore(name, total_variation(counts, p), bound, chi_square_test(thinned, p).p_value)


def lines(agreement: Agreement) -> list[str]:
    """What is said of an agreement: laws, expectations, the worst z and a verdict."""
    found = [
        f"law of {law.name}: total variation {law.total_variation:.4f} (at most {law.bound:.4f}), p {law.p_value:.3g}"
        for law in agreement.laws
    ]
    shown = [score for score in agreement.scores if score.name.startswith("E[")]
    found += [f"{s.name}: {s.found:.5g}, expected {s.expected:.5g}, z {s.z:.2f}" for s in shown]
    worst = agreement.worst
    found.append(
        f"{len(agreement.scores)} means: largest |z| {abs(worst.z):.2f} at {worst.name} ({worst.found:.4g}, expected "
        f"{worst.expected:.4g}), limit {agreement.largest_z:.2f}; autocorrelation time {agreement.time:.1f}"
    )
    return [*found, "agrees" if agreement.agrees else "DOES NOT AGREE"]
