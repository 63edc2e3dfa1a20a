"""Which statements of a run can be trusted: one family-wise criterion for all quantities that are watched.

Chains that sample one distribution disagree by chance: with M half-chains and S effective draws, r_hat - 1 is
distributed about as M / (2 S) chi2(M - 1) / (M - 1). A quantity counts as disagreeing only beyond the quantile of that
distribution at which one of all quantities does so with probability .05. Besides, means need enough effective draws.
"""

import math
from dataclasses import dataclass, replace

import numpy as np
from scipy.special import chdtri, ndtri

MAX_R_HAT = 1.05
"""However few the effective draws: chains further apart than this do not agree."""
FALSE_ALARMS = 0.05
MIN_ESS = 400.0
"""Of quantities other than pairs: the standard error of a mean is then a twentieth of a standard deviation."""
MAX_PAIR_ERROR = 0.05
"""Largest standard error of the probability that two items belong together."""
MAX_MATRIX_ERROR = 0.025
"""Largest mean difference of co-clustering probabilities that two such runs should have."""
MARGIN = 2.0
"""Advised lengths aim at so many times what is needed, as effective sample sizes are estimates themselves."""
MIN_FACTOR, MAX_FACTOR = 1.25, 20.0
"""No more than so many times the draws are advised: beyond that, something else is wrong."""
FAR_APART = 1.2
TINY = 1e-9
VARYING, CONSTANT, NOT_FINITE, TOO_SHORT = "", "constant", "not finite", "too short"

MAX_OTHER_LABELS = 0.05
"""Largest probability that another run would choose other labels."""
LABELS = "the labels"
NUMBER, SIZES, PAIRS, OTHER = (
    "the number of clusters",
    "cluster sizes",
    "which items belong together",
    "the log joint and hyperparameters",
)
STATEMENTS = {
    "n_clusters": NUMBER,
    "n_views": "the number of views",
    "largest_share": SIZES,
    "entropy": SIZES,
    "n_singletons": SIZES,
    "together": PAIRS,
    "distance": PAIRS,
    "row_entropy": "sizes of row clusters",
    "row_distance": "which rows belong together",
}
"""What a quantity speaks of, by its name without brackets; hyperparameters are all others."""
OF_CLUSTERS = "clusters."
"""Names of quantities begin so where clusters are unions of components, whose own names are plain."""
OF_COMPONENTS = {
    NUMBER: "the number of components",
    SIZES: "component sizes",
    PAIRS: "which items share a component",
}
"""What plain names speak of there."""


@dataclass(frozen=True)
class Verdict:
    """Whether a run may be trusted, why, and what to do.

    Attributes
    ----------
    converged : bool
        Whether every statement is trusted.
    finding : str
        Why, without a full stop.
    n_draws : int
        Draws per chain that were looked at.
    n_more_draws : int or None
        Draws per chain that should be added; None where that would not help.
    remark : str
        A sentence more, or nothing.
    trusted, doubtful : tuple of str
        Statements that can be trusted, and those that cannot.

    Examples
    --------
    >>> Verdict(False, "Not trusted: r_hat of n_clusters is 1.1", 500, 1500).sentence
    'Not trusted: r_hat of n_clusters is 1.1; run longer: continue_fit(n_draws=1500).'
    """

    converged: bool
    finding: str
    n_draws: int
    n_more_draws: int | None = None
    remark: str = ""
    trusted: tuple[str, ...] = ()
    doubtful: tuple[str, ...] = ()

    @property
    def status(self) -> str:
        """One of "trusted", "partly trusted", "not trusted"."""
        return "trusted" if self.converged else "partly trusted" if self.trusted else "not trusted"

    @property
    def sentence(self) -> str:
        """The whole, with the call in Python that does what is advised."""
        return self.advising(f"continue_fit(n_draws={self.n_more_draws})")

    @property
    def sentence_for_readers(self) -> str:
        """The whole for those of whom nobody knows how the chains were run: the call and the command."""
        n_all = self.n_draws + (self.n_more_draws or 0)
        return self.advising(
            f"continue_fit(n_draws={self.n_more_draws}) in Python, bayesgrove resume RUN --draws {n_all} in a shell"
        )

    def advising(self, how: str) -> str:
        """The whole, with these words for how to add draws."""
        advice = "" if self.n_more_draws is None else f"; run longer: {how}"
        return " ".join(filter(None, (f"{self.finding}{advice}.", self.remark)))


def r_hat_bounds(ess_within: np.ndarray, n_half_chains: int) -> np.ndarray:
    """Largest r_hat of each of several quantities that chance explains.

    Parameters
    ----------
    ess_within : float array of shape (n_quantities,)
        Effective draws, summed over chains looked at one by one.
    n_half_chains : int
        Chains after splitting.
    """
    return np.minimum(MAX_R_HAT, r_hat_by_chance(ess_within, n_half_chains))


def r_hat_by_chance(ess_within: np.ndarray, n_half_chains: int) -> np.ndarray:
    """The same however large: a few effective draws explain chains that seem far apart."""
    # r_hat is the larger of two, of the values and of their distances from the median: hence twice the quantities.
    quantile = chdtri(n_half_chains - 1, FALSE_ALARMS / (2 * max(1, ess_within.size)))
    return 1.0 + 0.5 * n_half_chains / np.maximum(ess_within, 1.0) * quantile / (n_half_chains - 1)


def least_draws(n_chains: int) -> int:
    """Draws per chain below which nothing can be told; chains are split, single ones twice."""
    return 4 if n_chains > 1 else 8


def statement_of(name: str, *, has_unions: bool = False) -> str:
    """What a quantity of this name speaks of; `has_unions` where plain names are of components.

    Examples
    --------
    >>> statement_of("n_clusters"), statement_of("n_clusters", has_unions=True)
    ('the number of clusters', 'the number of components')
    """
    words = STATEMENTS.get(name.removeprefix(OF_CLUSTERS).partition("[")[0], OTHER)
    return OF_COMPONENTS.get(words, words) if has_unions and not name.startswith(OF_CLUSTERS) else words


def are_pairs(names: np.ndarray) -> np.ndarray:
    """Which quantities tell whether two items are together."""
    return np.char.find(names, "together[") >= 0


def row_faults(row: np.void) -> dict[str, str]:
    """Rules that a row of the table of diagnostics breaks, as words by the column concerned."""
    if row["state"] == NOT_FINITE:
        return {"mean": "took values that are not finite numbers"}
    if row["state"] != VARYING:
        return {}
    name, faults = str(row["name"]), {}
    # Comparisons with nan are false: what cannot be computed does not pass.
    if not row["r_hat"] < row["r_hat_bound"]:
        faults["r_hat"] = f"r_hat of {name} is {shown(row['r_hat'])} (should be below {row['r_hat_bound']:.3f})"
    if are_pairs(np.array(name)):
        if not row["mcse"] <= MAX_PAIR_ERROR:
            faults["mcse"] = f"standard error of {name} is {shown(row['mcse'])} (should be at most {MAX_PAIR_ERROR})"
    elif not row["ess_bulk"] >= MIN_ESS:
        faults["ess_bulk"] = f"bulk ESS of {name} is {row['ess_bulk']:.0f} (should be at least {MIN_ESS:.0f})"
    return faults


def judge(
    table: np.ndarray, n_chains: int, n_draws: int, matrix_error: float | None = None, of_clusters: float | None = None
) -> Verdict:
    """The verdict on a table of diagnostics.

    `matrix_error` is what two such runs' co-clusterings differ by, `of_clusters` the same of unions, where there are
    any.
    """
    broken = table[table["state"] == NOT_FINITE]["name"]
    if broken.size:
        return Verdict(False, f"Not trusted: {_list(broken)} took values that are not finite numbers", n_draws)
    if (table["state"] == TOO_SHORT).any():
        chains = "one chain" if n_chains == 1 else f"{n_chains} chains"
        words = f"Too short to tell: {n_draws} draws of {chains}, at least {least_draws(n_chains)} are needed"
        return Verdict(False, words, n_draws, 1000 - n_draws)
    rows = table[table["state"] == VARYING]
    if not rows.size:
        return Verdict(True, "Trusted, or never moved: all quantities are constant over all draws and chains", n_draws)
    has_unions = bool(np.char.startswith(table["name"], OF_CLUSTERS).any())
    of_pairs = OF_COMPONENTS[PAIRS] if has_unions else PAIRS
    both = ((of_pairs, matrix_error), (PAIRS, of_clusters))
    errors = {statement: error for statement, error in both if error is not None}
    faults = [(row, row_faults(row)) for row in rows]
    failed = {statement_of(str(row["name"]), has_unions=has_unions) for row, found in faults if found}
    failed |= {statement for statement, error in errors.items() if not error <= MAX_MATRIX_ERROR}
    lone = "One chain only: r_hat compares its parts; several chains would show more." if n_chains == 1 else ""
    statements = list(dict.fromkeys(statement_of(str(name), has_unions=has_unions) for name in table["name"]))
    if not failed:
        return Verdict(True, _praise(rows), n_draws, remark=lone, trusted=tuple(statements))
    good, bad = (tuple(s for s in statements if (s in failed) is is_bad) for is_bad in (False, True))
    if _are_in_different_places(rows):  # what such chains agree on is luck
        good, bad = (), tuple(statements)
    start = f"Trusted for {_and(good)}, not for {_and(bad)}" if good else "Not trusted"
    largest, is_apart = max(errors.values(), default=None), _cannot_be_chance(rows, n_chains)
    more, remark = _advice(faults, largest, n_draws, is_apart=is_apart)
    finding = f"{start}: {'; '.join(_complaints(faults, errors))}"
    return Verdict(False, finding, n_draws, more, " ".join(filter(None, (remark, lone))), good, bad)


def with_labels(verdict: Verdict, chance: float) -> Verdict:
    """The verdict on a run that is trusted, and on its labels: `chance` that another run would choose others."""
    if chance <= MAX_OTHER_LABELS:
        return replace(verdict, trusted=(*verdict.trusted, LABELS))
    factor = MARGIN * (ndtri(MAX_OTHER_LABELS) / min(ndtri(chance), -TINY)) ** 2
    return replace(
        verdict,
        converged=False,
        finding=f"Trusted for {_and(verdict.trusted)}, not for {LABELS}: another run would choose others with "
        f"probability {chance:.2f}",
        n_more_draws=None if factor > MAX_FACTOR else 100 * math.ceil((factor - 1.0) * verdict.n_draws / 100),
        remark=" ".join(
            filter(None, ("Two partitions are about equally good: representatives(2) shows both.", verdict.remark))
        ),
        doubtful=(LABELS,),
    )


def _are_in_different_places(rows: np.ndarray) -> bool:
    """Whether the chains' log joint densities, or any quantity by far, tell them apart."""
    log_joint = rows[rows["name"] == "log_joint"]
    return bool((rows["r_hat"] > FAR_APART).any() or (log_joint["r_hat"] >= log_joint["r_hat_bound"]).any())


def _cannot_be_chance(rows: np.ndarray, n_chains: int) -> bool:
    """Whether a quantity is further apart than slow chains of one distribution are: more draws will hardly help."""
    explained = r_hat_by_chance(rows["ess_within"], 2 * max(2, n_chains))
    return bool((~(rows["r_hat"] < FAR_APART) & ~(rows["r_hat"] < explained)).any())


def _praise(rows: np.ndarray) -> str:
    means = rows[~are_pairs(rows["name"])]
    worst = rows[np.argmax(rows["r_hat"] - rows["r_hat_bound"])]
    words = (
        f"Trusted: the chains agree on all {rows.size} quantities (nearest to its bound: r_hat of {worst['name']}, "
        f"{worst['r_hat']:.3f} of {worst['r_hat_bound']:.3f})"
    )
    if not means.size:
        return words
    scarcest = means[np.argmin(means["ess_bulk"])]
    return f"{words} and bulk ESS is at least {MIN_ESS:.0f} (least {scarcest['ess_bulk']:.0f}, {scarcest['name']})"


def _complaints(faults: list[tuple[np.void, dict[str, str]]], errors: dict[str, float]) -> list[str]:
    """The worst breach of each rule, and how many more there are."""
    words = []
    for column, sign in (("r_hat", 1.0), ("ess_bulk", -1.0), ("mcse", 1.0)):
        found = [(row, own[column]) for row, own in faults if column in own]
        if found:
            worst = max(found, key=lambda pair: math.inf if math.isnan(pair[0][column]) else sign * pair[0][column])
            words.append(worst[1] + _others(len(found)))
    for statement, error in errors.items():
        if not error <= MAX_MATRIX_ERROR:
            whose = "" if statement == PAIRS else " of components"
            words.append(
                f"co-clustering probabilities{whose} of two such runs would differ by {error:.3f} on average "
                f"(should be at most {MAX_MATRIX_ERROR})"
            )
    return words


def _advice(
    faults: list[tuple[np.void, dict[str, str]]], matrix_error: float | None, n_draws: int, *, is_apart: bool
) -> tuple[int | None, str]:
    """Draws to add per chain so that the effective sample sizes suffice, or what else may help."""
    factors = [MIN_FACTOR]
    for row, own in faults:
        if "r_hat" in own or "ess_bulk" in own:
            factors.append(MARGIN * MIN_ESS / max(row["ess_bulk"], 1.0))
        if "mcse" in own:
            factors.append(MARGIN * (row["mcse"] / MAX_PAIR_ERROR) ** 2)
    if matrix_error is not None:
        factors.append(MARGIN * (matrix_error / MAX_MATRIX_ERROR) ** 2 if matrix_error > MAX_MATRIX_ERROR else 0.0)
    factor = max(factors)
    if is_apart and factor > MAX_FACTOR and n_draws >= 100:
        return None, (
            "More draws will hardly help: the chains are in different places. A longer burn-in (n_tune), more sweeps "
            "per draw (thin) or another start (init) may."
        )
    more = (min(factor, MAX_FACTOR) - 1.0) * n_draws
    return (100 * math.ceil(more / 100) if n_draws >= 100 else max(math.ceil(more), 1000 - n_draws)), ""


def _others(count: int) -> str:
    return f", and {count - 1} more" if count > 1 else ""


def _list(names: np.ndarray) -> str:
    return ", ".join(names[:3].tolist()) + _others(max(1, names.size - 2))


def _and(words: tuple[str, ...]) -> str:
    return words[0] if len(words) == 1 else f"{', '.join(words[:-1])} and {words[-1]}"


def shown(value: float) -> str:
    """A number of four digits, or what it is instead."""
    return "-" if math.isnan(value) else "infinite" if math.isinf(value) else f"{value:.4g}"
