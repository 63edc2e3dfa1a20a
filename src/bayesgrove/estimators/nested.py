"""What `BHMC` and `RBHMC` share: from a table to chains, to the tree shown, to predictions and files."""

import logging
from pathlib import Path
from typing import Any, Self

import numpy as np
from sklearn.utils.validation import check_is_fitted

from bayesgrove.core.errors import InvalidSettingError
from bayesgrove.core.rng import generator
from bayesgrove.core.table import Table
from bayesgrove.estimators.chains import ESTIMATE_PATH, ChainEstimator
from bayesgrove.estimators.clusterer import Clusterer, typical_row
from bayesgrove.estimators.nested_layout import LAYOUT, NUMBER_NAMES
from bayesgrove.estimators.nested_reports import report_result
from bayesgrove.estimators.settings import check_choice, check_learnable, check_positive, check_whole
from bayesgrove.inference.description import describe_rows
from bayesgrove.inference.path_exhibits import hierarchy_exhibits
from bayesgrove.inference.path_posterior import PathPosterior
from bayesgrove.inference.path_trees import hierarchy_tree
from bayesgrove.io.schema import Reading
from bayesgrove.likelihoods import Bound, GaussianKnownVariance, encode
from bayesgrove.models.nested.component_models import collapsed
from bayesgrove.models.nested.hyperparameters import Numbers, resolve_numbers
from bayesgrove.models.nested.precompile import compile_kernels
from bayesgrove.models.nested.predictive import (
    choose_draws,
    draw_rows,
    keep_draws,
    level_probabilities,
    likely_paths,
    log_density,
    node_probabilities,
)
from bayesgrove.models.nested.preparation import (
    UNIT,
    Preparation,
    advice_on_scale,
    bind_law,
    check_complete,
    check_numbers,
    prepare,
    prepared_table,
)
from bayesgrove.models.nested.sampler import NestedSampler
from bayesgrove.models.nested.schedules import PATHS, default_schedule
from bayesgrove.models.nested.summaries import SELECTIONS, judge_draws, score_tree, select_tree
from bayesgrove.models.nested.target import VALUE_NAMES, Target, make_target, sampled_means
from bayesgrove.report import write_report
from bayesgrove.stats.paths import path_nodes

SAMPLERS = ("exact", "paper")
MEANS = ("sampled", "collapsed")
MOVES = ("path", "regraft", "split_merge")


class NestedEstimator(ChainEstimator, Clusterer):
    """Base of estimators of hierarchies of fixed depth whose nodes are mixtures."""

    depth: int
    component_variance: Any
    base_variance: Any
    n_components: int | None
    sampler: str
    means: str
    center: bool
    scale: Any
    n_pca: int | None
    select: str

    posterior_: PathPosterior

    _layout = LAYOUT
    _extra_draws = ("components",)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = not self._needs_complete_rows()
        return tags

    def _takes_mixed_tables(self) -> bool:
        return self.likelihood is not None and not self._needs_complete_rows()

    def _is_sampled(self) -> bool:
        """Whether means of the components are drawn, not integrated out."""
        return self.likelihood is None and self.means == "sampled"

    def _needs_complete_rows(self) -> bool:
        return self._is_sampled() or self.n_pca is not None

    def fit(self, X: Any, y: Any = None) -> Self:
        """Run the chains and choose the tree to show.

        Parameters
        ----------
        X : array, data frame or sparse matrix of shape (n_rows, n_columns)
            NaN is a missing cell where component means are integrated out.
        y : ignored
            Present for API consistency.
        """
        self._check_settings()
        table = self._read_input(X, reset=True)
        self._seed = self._resolve_seed()
        self._table, self._preparation = table, self._prepare(table)
        rows = prepared_table(table, self._preparation)
        given, is_spherical = self._given_numbers(), self.likelihood is None
        numbers = resolve_numbers(given, rows, is_spherical=is_spherical, is_drawn=self._is_sampled())
        self._bound = self._without_labels(bind_law(self.likelihood, rows, *numbers.values[3:5].tolist()))
        self._template = typical_row(self._bound.values)
        if (advice := self._scale_advice()) is not None:
            logging.getLogger("bayesgrove").warning("%s", advice)
        self._target = self._make_target(self._bound, numbers)
        compile_kernels(self._target)
        self._run(self._make_sampler(self._target), self._make_schedule(), self._describe())
        self._summarise()
        return self

    # ---- settings

    def _check_settings(self) -> None:
        self._check_chain_settings()
        check_whole("depth", self.depth, 1)
        for name in ("alpha", "gamma", "gamma0", "component_variance", "base_variance"):
            check_learnable(name, getattr(self, name))
        if self.n_components is not None:
            check_whole("n_components", self.n_components, 1)
        check_choice("path", self.path, PATHS)
        check_choice("sampler", self.sampler, SAMPLERS)
        check_choice("means", self.means, MEANS)
        check_choice("select", self.select, SELECTIONS)
        self._check_preparation()

    def _check_preparation(self) -> None:
        if not isinstance(self.center, bool):
            raise InvalidSettingError(f"center is True or False, got {self.center!r}.", setting="center")
        if self.scale is not None and self.scale != UNIT:
            check_positive("scale", self.scale)
        if self.n_pca is not None:
            check_whole("n_pca", self.n_pca, 1)

    def _prepare(self, table: Table) -> Preparation:
        is_changed = bool(self.center or self.scale or self.n_pca)
        if is_changed or self.likelihood is None:
            check_numbers(table)
        self._check_complete(table)
        return prepare(table, center=self.center, scale=self.scale, n_pca=self.n_pca)

    def _check_complete(self, table: Table) -> None:
        if self._needs_complete_rows():
            check_complete(table, 'Fill them in, or take means="collapsed" and no n_pca, which leave them out.')

    def _given_numbers(self) -> dict[str, Any]:
        """Numbers as users give them, by the names of the target."""
        return {name: getattr(self, name) for name in VALUE_NAMES[:5]}

    def _scale_advice(self) -> str | None:
        """What to do about rows that the variances do not fit."""
        if self.likelihood is not None:
            return None
        return advice_on_scale(self._bound.values, self.component_variance, self.base_variance)

    def _law_of(self, values: np.ndarray) -> Any:
        """The model of the components of some rows."""
        return sampled_means(values) if self._is_sampled() else collapsed(self._bound.prior, values)

    def _penalty_options(self, values: np.ndarray) -> dict[str, Any]:
        """What `make_target` is told of a penalty."""
        return {}

    def _make_target(self, bound: Bound, numbers: Numbers) -> Target:
        return make_target(
            bound.values,
            self._law_of(bound.values),
            depth=self.depth,
            values=numbers.values,
            hyperpriors=numbers.hyperpriors,
            n_components=self.n_components or 0,
            **self._penalty_options(bound.values),
        )

    def _make_sampler(self, target: Target) -> Any:
        return NestedSampler(target, self._bound.log_measure, self._fingerprint())

    def _fingerprint(self) -> dict[str, Any]:
        return {"model": type(self).__name__, "sampler": self.sampler}

    def _make_schedule(self) -> Any:
        options = {} if self.sampler == "paper" else {name: getattr(self, name) for name in MOVES}
        return default_schedule(self.n_tune, sampler=self.sampler, thin=self.thin, **options, **self._move_options())

    def _move_options(self) -> dict[str, Any]:
        """What the schedule is told of a penalty."""
        return {}

    # ---- summaries

    def _make_posterior(self, draws: list[dict[str, np.ndarray]], scalars: dict[str, np.ndarray]) -> PathPosterior:
        paths = np.stack([np.asarray(chain["paths"]) for chain in draws])
        paths = paths.astype(np.min_scalar_type(int(paths.max())), copy=False)
        n_chains, n_draws = paths.shape[:2]
        first = draws[0]["log_weights"][0]
        size = 8.0 * (first.size + len(first) ** 2)
        chosen = [divmod(int(number), n_draws) for number in choose_draws(n_chains * n_draws, size)]
        self._drawn = [{name: values[d] for name, values in draws[c].items()} for c, d in chosen]
        components = np.stack([np.asarray(chain["components"]) for chain in draws])
        extra = {"components": components.astype(np.min_scalar_type(int(components.max())), copy=False)}
        return PathPosterior.from_paths(paths, scalars, extra, self._posterior_attributes())

    def _summarise(self) -> None:
        """The tree shown, numbers, what prediction needs."""
        self._set_numbers()
        rng = generator(self._seed, ESTIMATE_PATH)
        selected = select_tree(rng, self.posterior_, self.select, self.n_jobs)
        self.selected_draw_, levels = selected
        self._set_levels(levels)
        self.tree_ = hierarchy_tree(self.posterior_, levels, self._row_names)
        self._kept = keep_draws(self._target, self._drawn, levels)
        rows = self._bound.encoding.undo(self._bound.values)
        self.scores_ = score_tree(rows, self.posterior_, selected)
        described = describe_rows(self._table.take, self._table.n_columns, self.tree_, self.labels_)
        judged = judge_draws(rows, self.posterior_, self._drawn)
        details = {"verdict": self.diagnostics_.verdict.sentence_for_readers, **judged}
        if (advice := self._scale_advice()) is not None:
            details["advice"] = advice
        self._set_result(self._about, details, described)

    def _set_levels(self, levels: np.ndarray) -> None:
        self.level_labels_ = levels
        self.labels_ = np.ascontiguousarray(levels[:, -1])
        self.n_clusters_ = int(self.labels_.max()) + 1
        self._shown = path_nodes(levels)

    def _set_numbers(self) -> None:
        """Posterior means of what was learned, and all else as given."""
        for name in VALUE_NAMES[:5]:
            scalars = self.posterior_.scalars
            value = scalars[name].mean() if name in scalars else self._target.values[VALUE_NAMES.index(name)]
            setattr(self, f"{name}_", float(value))
        self.concentration_ = self.alpha_
        self.likelihood_ = self._bound.likelihood
        if self.likelihood is None:
            self.likelihood_ = GaussianKnownVariance(self.component_variance_, 0.0, self.base_variance_)

    def _result_parts(self) -> dict[str, Any]:
        exhibits = hierarchy_exhibits(self.posterior_, self.tree_, self.level_labels_)
        return {**super()._result_parts(), "exhibits": exhibits}

    # ---- new rows

    def _encoded(self, X: Any) -> tuple[np.ndarray, np.ndarray]:
        check_is_fitted(self, "tree_")
        table = self._read_input(X, reset=False)
        self._check_complete(table)
        values, log_measure = encode(self._bound, prepared_table(table, self._preparation))
        return values, log_measure + self._preparation.log_measure()

    def _energies(self) -> Any:
        """A function of rows that gives a function of a draw: what they pay at its nodes; None without penalty."""
        return None

    def _masses(self, values: np.ndarray) -> np.ndarray:
        """Probability of each row to join each leaf of the tree shown or branch off below each inner node."""
        return node_probabilities(self._kept, self._law_of, values, self._energies())

    def _probabilities(self, values: np.ndarray) -> np.ndarray:
        return level_probabilities(self._masses(values), self._shown, self.depth)

    def predict_level_proba(self, X: Any, level: int) -> np.ndarray:
        """Probability that each row goes through each node of a level of the tree shown; rows sum to 1.

        Parameters
        ----------
        X : array or data frame of shape (n_rows, n_columns)
        level : int
            1 to `depth`.

        Returns
        -------
        array of shape (n_rows, n_nodes_of_the_level + 1)
            In the order of `level_labels_[:, level - 1]`; the last column is that the row branches off above the level.
        """
        values, _ = self._encoded(X)
        check_whole("level", level, 1)
        if level > self.depth:
            raise InvalidSettingError(f"levels are 1 .. {self.depth}, got {level}.", setting="level")
        return level_probabilities(self._masses(values), self._shown, level)

    def predict_paths(self, X: Any) -> np.ndarray:
        """The most probable path of each row, numbered as in `level_labels_`; -1 from where it branches off.

        Parameters
        ----------
        X : array or data frame of shape (n_rows, n_columns)

        Returns
        -------
        int64 array of shape (n_rows, depth)
        """
        values, _ = self._encoded(X)
        return likely_paths(self._masses(values), self._shown)

    def _certainty(self) -> np.ndarray:
        return self.posterior_.certainty(self.labels_).own

    def _log_density(self, values: np.ndarray) -> np.ndarray:
        return log_density(self._kept, self._law_of, values)

    def _draw_rows(self, rng: np.random.Generator, n_samples: int) -> np.ndarray:
        prior = None if self._is_sampled() else self._bound.prior
        return draw_rows(self._kept, prior, rng, self._template, n_samples)

    def sample(self, n_samples: int = 1, random_state: Any = None) -> np.ndarray:
        """Rows drawn from the predictive distribution, in the data's own units (categories as codes).

        After a projection (`n_pca`) they lie on the plane of the principal axes.

        Parameters
        ----------
        n_samples : int
        random_state : int, optional
            None continues from the estimator's own seed.
        """
        return self._preparation.undo(super().sample(n_samples, random_state))

    # ---- reports and files

    def report(self, path: Any, *, title: str | None = None, images: Any = None, classes: Any = None) -> Path:
        """Write one HTML file with the hierarchy, its uncertainty, what distinguishes the leaves, and the chains.

        It needs no network and no other file; open it in a browser.

        Parameters
        ----------
        path : str or Path
            An existing file is replaced.
        title : str, optional
            Heading of the page.
        images : array of shape (n_rows, height, width), optional
            Pictures of the rows, shown in the tree in place of names.
        classes : array of shape (n_rows,), optional
            Known classes; the agreement of each level with them is shown.
        """
        check_is_fitted(self, "tree_")
        shown = report_result(self.result_, self.posterior_, self.level_labels_, images, classes)
        return write_report(shown, path, title=title)

    def _extra_numbers(self) -> dict[str, float]:
        """Numbers a model file keeps besides those all hierarchies have."""
        return {}

    def _restore_numbers(self, numbers: dict[str, float]) -> None:
        """Take `_extra_numbers` back, or refuse them."""

    def _n_coordinates(self, preparation: Preparation) -> int:
        """Length of a discriminant."""
        return 0

    def _restored(self, reading: Reading) -> None:
        super()._restored(reading)
        if reading["is_plain"]:
            self.likelihood = None
        for name, number in zip(NUMBER_NAMES, reading["numbers"], strict=True):
            setattr(self, f"{name}_", number)
        self._set_levels(self.level_labels_)
        self._keep_read_posterior(PathPosterior.from_paths, reading["paths"], reading)
        self._restore_numbers(reading["extra_numbers"])
        self._set_read_result(reading)
