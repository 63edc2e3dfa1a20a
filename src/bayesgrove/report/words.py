"""The answers in plain sentences: how many clusters, how sure, which features, whether to trust it."""

import numpy as np

from bayesgrove.inference.overview import CountDistribution
from bayesgrove.inference.result import Result
from bayesgrove.stats.profiles import Profile

MOST_SIZES = 6
MOST_DESCRIBED = 4
FEATURES_EACH = 3
LEAST_BITS = 0.01
ESTIMATES = {
    "vi": "the partition of least expected variation of information",
    "binder": "the partition of least expected Binder loss",
    "map": "the draw of largest log joint",
}


def how_many(result: Result, distribution: CountDistribution | None) -> str:
    """The number of clusters and how probable it is."""
    n_clusters, sizes = result.n_clusters, np.bincount(result.labels)
    start = f"{count(result.labels.size, result.noun)} in {count(n_clusters, 'cluster')}"
    shown = ", ".join(f"{size:,}" for size in sorted(sizes.tolist(), reverse=True)[:MOST_SIZES])
    start += f" (of {shown}{' ...' if n_clusters > MOST_SIZES else ''} {result.noun}s)." if n_clusters > 1 else "."
    if result.n_components > n_clusters:
        united = count(result.n_components, "component")
        start += f" They are unions of {united} of the mixture that no valley of the density separates."
        if counts_components(result):
            return (
                start
                if distribution is None
                else f"{start} {_chances(result, distribution, result.n_components, 'component')}"
            )
    return start if distribution is None else f"{start} {_chances(result, distribution, n_clusters, 'cluster')}"


def counts_components(result: Result) -> bool:
    """Whether what is known of numbers is known of components, of which clusters are unions."""
    return result.n_components > result.n_clusters and result.cluster_posterior is None


def how_many_views(result: Result, distribution: CountDistribution | None) -> str:
    """The number of views, their columns, and how probable that number is."""
    sizes = sorted((view.columns.size for view in result.views), reverse=True)
    start = f"{count(len(result.feature_names), 'column')} in {count(len(sizes), 'view')}"
    shown = ", ".join(f"{size:,}" for size in sizes[:MOST_SIZES])
    start += f" (of {shown}{' ...' if len(sizes) > MOST_SIZES else ''} columns)." if len(sizes) > 1 else "."
    return start if distribution is None else f"{start} {_chances(result, distribution, len(sizes), 'view')}"


def _chances(result: Result, distribution: CountDistribution, n: int, noun: str) -> str:
    chance = percent(float(distribution.probability[distribution.counts == n].sum()))
    low, high = distribution.interval()
    span = f"{low:,}" if low == high else f"{low:,} to {high:,}"
    if distribution.is_sampled:
        words, rest = f"{chance} of the draws have {count(n, noun)}", f", at least 90 % of the draws have {span}"
    else:
        words, rest = f"Given this tree, the probability of {count(n, noun)} is {chance}", f", of {span} at least 90 %"
    words += "." if low == high == n else f"{rest}."
    return f"{words} {why_another_number(result, distribution, n, noun)}".rstrip()


def why_another_number(result: Result, distribution: CountDistribution, n: int, noun: str) -> str:
    """Why the estimate has a number of clusters that few draws have; nothing where it is in their 90 % interval."""
    low, high = distribution.interval()
    if low <= n <= high or not distribution.is_sampled:
        return ""
    meaning = ESTIMATES.get(str(getattr(result.posterior, "attributes", {}).get("estimate")), "one partition")
    likeliest = int(distribution.counts[np.argmax(distribution.probability)])
    return f"The {count(n, noun)} shown are {meaning}, a summary of all draws; the most frequent number is {likeliest}."


def in_short(result: Result) -> str:
    """The number of views where there are any, else of clusters."""
    return count(len(result.views), "view") if result.views else count(result.n_clusters, "cluster")


def how_sure(result: Result, certainty: np.ndarray | None) -> str:
    """How firmly rows belong to their clusters."""
    if certainty is None:
        return "This tree has no probabilities."
    sizes = np.bincount(result.labels)
    known = ~np.isnan(certainty) & (sizes > 1)
    if not known.any():
        return f"No cluster has two {result.noun}s, so there are no pairs to be sure of."
    weights = sizes[known] * (sizes[known] - 1.0)
    mean = float(np.average(certainty[known], weights=weights))
    least = int(np.flatnonzero(known)[np.argmin(certainty[known])])
    start = "Two" if result.diagnostics is not None else "Given this tree, two"
    what = "in one component of the mixture" if counts_components(result) else "together"
    words = f"{start} {result.noun}s of one cluster are {what} with probability {chance(mean)} on average"
    if known.sum() == 1:
        return f"{words}."
    size = count(int(sizes[least]), result.noun)
    return f"{words}; the least sure is cluster {least} ({chance(float(certainty[least]))}, {size})."


def which_features(result: Result) -> list[str]:
    """What the largest clusters stand out by, a sentence each."""
    if result.description is None:
        return ["Nothing is known of the columns: the model keeps no table."]
    if result.n_clusters == 1:
        return ["One cluster: there is nothing to tell apart."]
    profile, sizes = result.description.clusters, np.bincount(result.labels)
    largest = [k for k in np.argsort(-sizes, kind="stable").tolist() if k < len(profile.mean)][:MOST_DESCRIBED]
    left = result.n_clusters - len(largest)
    more = [f"And {count(left, 'smaller cluster')}: see the table."] if left else []
    return [*(f"Cluster {k}: {_traits(profile, k, result.noun)}." for k in largest), *more]


def _traits(profile: Profile, cluster: int, noun: str) -> str:
    found = []
    for f in profile.strongest(FEATURES_EACH)[cluster].tolist():
        if profile.telling[cluster, f] >= LEAST_BITS:
            mean, overall = profile.mean[cluster, f], profile.overall[f]
            feature = profile.features[f]
            sides = ("often", "seldom") if feature.is_rate else ("high", "low")
            side, write = sides[0] if mean > overall else sides[1], percent if feature.is_rate else short
            found.append(f"{side} {feature.name} ({write(mean)}, all {noun}s {write(overall)})")
    return ", ".join(found) or "no feature stands out"


def whether_to_trust(result: Result) -> str:
    """The verdict on the chains and what the model advises, or what a single tree can and cannot say."""
    checked = str(result.details.get("check", ""))
    if result.diagnostics is not None:
        advice = str(result.details.get("advice", ""))
        verdict = result.diagnostics.verdict.sentence_for_readers
        return " ".join(filter(None, (verdict, f"{advice[:1].upper()}{advice[1:]}", checked)))
    return (
        "No chains were run, so there is nothing to converge. Probabilities are those of the partitions that this one "
        f"tree allows; another tree might allow better ones.{missed_partition(result)} {checked}"
    ).rstrip()


def missed_partition(result: Result) -> str:
    """What splits of the clusters found would gain, where they gain anything."""
    missed = float(result.details.get("log_joint_missed", 0.0))
    if missed < 1.0:
        return ""
    return (
        f" This tree misses a better partition: splitting clusters further would raise the log joint probability by "
        f"{missed:,.0f}. Clusters whose shape the likelihood does not describe are fitted by many components."
    )


def count(n: int, noun: str) -> str:
    """A number and its noun."""
    return f"{n:,} {noun}{'' if n == 1 else 's'}"


def percent(share: float) -> str:
    """A share in percent that never rounds to certainty."""
    if 0.0 < share < 0.01:
        return "under 1 %"
    return "over 99 %" if 0.99 < share < 1.0 else f"{100 * share:.0f} %"


def chance(value: float) -> str:
    """A probability of two digits that never rounds to certainty."""
    return ">.99" if 0.995 <= value < 1.0 else "<.01" if 0.0 < value < 0.005 else f"{value:.2f}"


def short(value: float) -> str:
    """Three digits, or all before the point; powers of ten only for the very small and the very large."""
    if value != 0.0 and not 1e-4 <= abs(value) < 1e7:
        return f"{value:.2e}"
    return f"{value:,.0f}" if abs(value) >= 100.0 else f"{value:.3g}"
