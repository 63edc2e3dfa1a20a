"""`RBHMC`: Bayesian hierarchical mixture clustering, regularised by margins between siblings."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np

from bayesgrove.core.errors import InvalidFileError, InvalidSettingError
from bayesgrove.core.table import Table
from bayesgrove.estimators.nested import NestedEstimator
from bayesgrove.estimators.settings import check_choice, check_learnable, check_positive, check_whole
from bayesgrove.inference.schedule import Step
from bayesgrove.models.nested.penalty import PENALTIES, margin_rows
from bayesgrove.models.nested.penalty_predictive import PenaltyLaw, energies_of
from bayesgrove.models.nested.predictive import KeptDraw
from bayesgrove.models.nested.preparation import Preparation, check_complete
from bayesgrove.models.nested.target import DISCRIMINANT_VARIANCE, VALUE_NAMES, Target
from bayesgrove.models.nested.tempered_sampler import SWAP, tempered_sampler

PRECISIONS = ("1/nu0^2", "nu0^2")
MARGIN_SCALES = (None, "rms")
DISCRIMINANTS = ("slice", "augmented", "gibbs")


class RBHMC(NestedEstimator):
    """Regularised Bayesian hierarchical mixture clustering: `BHMC` that penalises linearly inseparable siblings.

    Every node below the root has a discriminant vector. A row pays a penalty for each sibling along its path that its
    own node does not beat by a margin. The published penalty ("max") mostly prunes the tree; "chance" divides every
    penalty factor by its mean under chance, so that siblings as such cost nothing, and separates them.

    Parameters
    ----------
    likelihood : None, str or Likelihood, default=None
        As for `BHMC`.
    depth : int, default=3
        Levels below the root (L in the paper).
    alpha, gamma, gamma0, component_variance, base_variance : float or "auto"
        As for `BHMC`.
    C : float, default=0.01
        Strength of the penalty; 0 gives the distribution of `BHMC`.
    margin : float, default=1.0
        By how much a row's own node must beat a sibling (epsilon_0).
    discriminant_scale : float or "auto", default=1.0
        Prior standard deviation of the discriminants (nu_0); "auto" learns it.
    margin_scale : None or "rms", default=None
        "rms" divides the rows that discriminants see by the root of their mean squared norm, so that C and margin do
        not depend on the unit.
    penalty : {"max", "level-max", "sum", "chance", "chance-max"}, default="max"
        Penalise the worst margin of each row (as in the paper), the worst of each level (the paper's alternative), all
        margins, all margins relative to chance, or the worst of each level relative to chance.
    intercept : bool, default=False
        Whether discriminants include a constant beside the columns.
    discriminants : {"slice", "augmented", "gibbs"}, default="slice"
        How they are moved: elliptical slice sampling; Gaussian proposals ("max" only, mixes worse); exact Gaussian
        conditionals ("sum" and "chance" only).
    n_components, path, regraft, split_merge, means, center, scale, n_pca, select
        As for `BHMC`; rows must be complete. `select="best"` takes the largest regularised likelihood.
    sampler : {"exact", "paper"}, default="exact"
        "paper" is the printed sampler of Huang, Ng, Laitonjam and Hurley, kept for reproduction, "max" only: with C > 0
        it does *not* leave its target distribution invariant.
    paper_prior_precision : {"1/nu0^2", "nu0^2"}, default="1/nu0^2"
        With `sampler="paper"`: the correct prior precision of discriminants, or the printed one.
    n_temperatures : int, default=1
        Number of Metropolis-coupled chains in C, the first at C, the last at 0.
    n_chains, n_tune, n_draws, thin, run_dir, resume, time_limit, random_state, n_jobs, verbose
        As for `BHMC`.

    Attributes
    ----------
    level_labels_, labels_, n_clusters_, tree_, scores_, selected_draw_
        As for `BHMC`; `scores_["rcdl"]` is the log complete-data likelihood minus the penalty.
    posterior_, diagnostics_, converged_, likelihood_, acceptance_, result_
        As for `BHMC`.
    alpha_, gamma_, gamma0_, component_variance_, base_variance_, discriminant_scale_ : float
        Posterior means, or as given (for `discriminant_scale_` the root of the mean variance).

    Notes
    -----
    zeta_nlz = margin - (eta_v - eta_z)'x_n for the node v of row n at level l and each sibling z of v. "max" multiplies
    the distribution of `BHMC` and of the discriminants by prod_n exp(-2C max(0, max zeta_nlz)); "chance" by
    prod exp(-2C max(0, zeta_nlz)) / g_n, g_n the mean of that factor under the discriminants' prior. The margin depends
    on the origin: centre the data (`center` or `n_pca`).

    The regularised distribution is not a generative model. `score_samples` is the density of the mixture without the
    penalty; `predict_proba` multiplies the probability of each place by the penalty factor of the new row alone, a
    heuristic.

    **Erratum** (Huang et al.): the printed path move counts only the moved row's own penalty, although a node that
    appears or vanishes changes the penalties of others; and discriminants are drawn as if the worst sibling of each row
    did not depend on them. The stationary distribution is off by about one half in total variation on trees of four
    rows (tests/statistical/test_nested_paper.py).

    References
    ----------
    W. Huang, T. L. J. Ng, N. Laitonjam and N. J. Hurley, Posterior regularisation on Bayesian hierarchical mixture
    clustering, 2021.

    Examples
    --------
    >>> import numpy as np
    >>> import bayesgrove as bg
    >>> rng = np.random.default_rng(0)
    >>> X = np.vstack([rng.normal(centre, 0.3, (15, 2)) for centre in ((-3, -3), (-3, -1), (4, 0))])
    >>> model = bg.RBHMC(
    ...     depth=2, component_variance=0.1, base_variance=9.0, center=True, n_chains=2, n_draws=300, random_state=0,
    ...     penalty="chance", margin_scale="rms", C=0.03, margin=0.2,
    ... )
    >>> model.fit(X).level_labels_.shape
    (45, 2)
    >>> bool(model.scores_["rcdl"] != model.scores_["cdl"])
    True
    """

    def __init__(
        self,
        likelihood: Any = None,
        depth: int = 3,
        alpha: Any = 0.4,
        gamma: Any = 1.0,
        gamma0: Any = 0.85,
        component_variance: Any = "auto",
        base_variance: Any = "auto",
        C: float = 0.01,
        margin: float = 1.0,
        discriminant_scale: Any = 1.0,
        margin_scale: str | None = None,
        penalty: str = "max",
        *,
        intercept: bool = False,
        discriminants: str = "slice",
        n_components: int | None = None,
        path: str = "gibbs",
        regraft: bool = True,
        split_merge: bool = False,
        sampler: str = "exact",
        paper_prior_precision: str = "1/nu0^2",
        means: str = "sampled",
        center: bool = False,
        scale: Any = None,
        n_pca: int | None = None,
        select: str = "central",
        n_temperatures: int = 1,
        n_chains: int = 4,
        n_tune: int = 500,
        n_draws: int = 1000,
        thin: int = 1,
        run_dir: Any = None,
        resume: bool = False,
        time_limit: float | None = None,
        random_state: Any = None,
        n_jobs: int | None = None,
        verbose: int = 0,
    ) -> None:
        self.likelihood = likelihood
        self.depth = depth
        self.alpha = alpha
        self.gamma = gamma
        self.gamma0 = gamma0
        self.component_variance = component_variance
        self.base_variance = base_variance
        self.C = C
        self.margin = margin
        self.discriminant_scale = discriminant_scale
        self.margin_scale = margin_scale
        self.penalty = penalty
        self.intercept = intercept
        self.discriminants = discriminants
        self.n_components = n_components
        self.path = path
        self.regraft = regraft
        self.split_merge = split_merge
        self.sampler = sampler
        self.paper_prior_precision = paper_prior_precision
        self.means = means
        self.center = center
        self.scale = scale
        self.n_pca = n_pca
        self.select = select
        self.n_temperatures = n_temperatures
        self.n_chains = n_chains
        self.n_tune = n_tune
        self.n_draws = n_draws
        self.thin = thin
        self.run_dir = run_dir
        self.resume = resume
        self.time_limit = time_limit
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose

    def _needs_complete_rows(self) -> bool:
        return True

    def _check_complete(self, table: Table) -> None:
        check_complete(table, 'Fill them in, or take BHMC with means="collapsed", which leaves them out.')

    def _check_settings(self) -> None:
        super()._check_settings()
        self._check_penalty()
        self._check_updates()

    def _check_penalty(self) -> None:
        check_learnable("discriminant_scale", self.discriminant_scale)
        check_positive("margin", self.margin)
        if isinstance(self.C, bool) or not isinstance(self.C, int | float | np.number) or not 0.0 <= self.C < np.inf:
            raise InvalidSettingError(f"C must be a number of at least 0, got {self.C!r}. Try 0.01.", setting="C")
        check_choice("penalty", self.penalty, tuple(PENALTIES))
        check_choice("margin_scale", self.margin_scale, MARGIN_SCALES)
        check_choice("discriminants", self.discriminants, DISCRIMINANTS)
        check_choice("paper_prior_precision", self.paper_prior_precision, PRECISIONS)
        check_whole("n_temperatures", self.n_temperatures, 1)

    def _check_updates(self) -> None:
        """Refuse moves that do not know the penalty."""
        if self.sampler == "paper" and self.penalty != "max":
            raise InvalidSettingError(f"the printed sampler knows penalty='max' only, got {self.penalty!r}.")
        if self.sampler == "paper" and self.n_temperatures > 1:
            raise InvalidSettingError(f"the printed sampler has one temperature, got {self.n_temperatures}.")
        if self.discriminants == "augmented" and self.penalty != "max":
            raise InvalidSettingError(
                f"discriminants='augmented' knows penalty='max' only, got {self.penalty!r}. Take 'slice'."
            )
        if self.discriminants == "gibbs" and self.penalty not in ("sum", "chance"):
            raise InvalidSettingError(
                f"discriminants='gibbs' knows penalty='sum' and 'chance' only, got {self.penalty!r}. Take 'slice'."
            )

    def _given_numbers(self) -> dict[str, Any]:
        scale = self.discriminant_scale
        return {**super()._given_numbers(), "discriminant_variance": scale if isinstance(scale, str) else scale**2}

    def _penalty_options(self, values: np.ndarray) -> dict[str, Any]:
        norm = float(np.sqrt(np.mean(np.sum(values**2, axis=1)))) if self.margin_scale == "rms" else 1.0
        self._margin_norm = norm if norm > 0.0 else 1.0
        return {
            "penalty": PENALTIES[self.penalty],
            "strength": float(self.C),
            "margin": float(self.margin),
            "margin_data": self._margin_rows(values),
        }

    def _margin_rows(self, values: np.ndarray) -> np.ndarray:
        """Rows as discriminants see them; scaled as the rows of the fit were."""
        return margin_rows(values / self._margin_norm, intercept=self.intercept)

    def _move_options(self) -> dict[str, Any]:
        if self.sampler == "paper":
            return {"penalty": True, "paper_prior_precision": self.paper_prior_precision}
        return {"penalty": True, "discriminants": self.discriminants}

    def _make_sampler(self, target: Target) -> Any:
        if self.n_temperatures == 1:
            return super()._make_sampler(target)
        return tempered_sampler(target, self.n_temperatures, self._bound.log_measure, self._fingerprint())

    def _make_schedule(self) -> Any:
        schedule = super()._make_schedule()
        if self.n_temperatures == 1:
            return schedule
        return replace(schedule, tune=(*schedule.tune, Step(SWAP)), draw=(*schedule.draw, Step(SWAP)))

    def _set_numbers(self) -> None:
        super()._set_numbers()
        name, scalars = VALUE_NAMES[DISCRIMINANT_VARIANCE], self.posterior_.scalars
        variance = scalars[name].mean() if name in scalars else self._target.values[DISCRIMINANT_VARIANCE]
        self.discriminant_scale_ = float(np.sqrt(variance))

    def _energies(self) -> Callable[[np.ndarray], Callable[[KeptDraw], np.ndarray]] | None:
        law = PenaltyLaw(PENALTIES[self.penalty], float(self.C), float(self.margin))
        return (lambda values: energies_of(law, self._margin_rows(values))) if self.C > 0.0 else None

    def _extra_numbers(self) -> dict[str, float]:
        return {"margin_norm": self._margin_norm, "discriminant_scale": self.discriminant_scale_}

    def _restore_numbers(self, numbers: dict[str, float]) -> None:
        self._check_penalty()  # its settings are read by predictions
        self._margin_norm, self.discriminant_scale_ = numbers["margin_norm"], numbers["discriminant_scale"]
        if not (0.0 < self._margin_norm < np.inf and 0.0 < self.discriminant_scale_ < np.inf):
            raise InvalidFileError("a number of the penalty is not positive")

    def _n_coordinates(self, preparation: Preparation) -> int:
        return preparation.width + self.intercept
