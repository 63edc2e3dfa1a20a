"""What `BHMC` and `RBHMC` share: from a table to chains, to the tree shown, to predictions and files."""

import logging
from pathlib import Path
from typing import Any, Self

import numpy as np
from sklearn.utils.validation import check_is_fitted

from bayesgrove.core import provenance
from bayesgrove.core.errors import InvalidSettingError
from bayesgrove.core.rng import generator
from bayesgrove.core.table import Table
from bayesgrove.estimators.chains import ChainEstimator
from bayesgrove.estimators.clusterer import Clusterer, typical_row
from bayesgrove.estimators.inputs import read_input
from bayesgrove.estimators.nested_files import nested_file_parts, restore_nested
from bayesgrove.estimators.nested_inputs import (
    Preparation,
    advice_on_scale,
    bind_law,
    check_complete,
    check_numbers,
    check_preparation,
    prepare,
    prepared_table,
)
from bayesgrove.estimators.nested_reports import report_result
from bayesgrove.estimators.nested_settings import LEARN, Numbers, check_number, resolve_numbers
from bayesgrove.estimators.settings import check_choice, check_whole
from bayesgrove.inference.description import Description, describe_rows
from bayesgrove.inference.path_exhibits import hierarchy_exhibits
from bayesgrove.inference.path_posterior import DrawPlace, PathPosterior
from bayesgrove.inference.path_trees import hierarchy_tree
from bayesgrove.inference.result import Result
from bayesgrove.likelihoods import Bound, GaussianKnownVariance, encode
from bayesgrove.models.nested.laws import collapsed
from bayesgrove.models.nested.predictive import (
    choose_draws,
    draw_rows,
    keep_draws,
    level_probabilities,
    likely_paths,
    log_density,
    node_probabilities,
)
from bayesgrove.models.nested.sampler import NestedSampler
from bayesgrove.models.nested.schedules import PATHS, default_schedule
from bayesgrove.models.nested.target import VALUE_NAMES, Target, make_target, sampled_means
from bayesgrove.models.nested.warm import compile_kernels
from bayesgrove.report import write_report
from bayesgrove.stats.paths import PathNodes, inner_distances, path_nodes, sibling_distances

ESTIMATE_PATH = 0xE571
SELECTIONS = ("central", "best", "frequent", "consensus")
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

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = not self._needs_complete_rows()
        return tags

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
            For scikit-learn's sake.
        """
        self._check_settings()
        table = read_input(self, X, reset=True)
        self._seed = self._resolve_seed()
        self._table, self._preparation = table, self._prepare(table)
        rows = prepared_table(table, self._preparation)
        numbers = self._resolve_numbers(rows)
        self._bound = bind_law(self.likelihood, rows, *numbers.values[3:5].tolist())
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
            check_number(name, getattr(self, name))
        if self.n_components is not None:
            check_whole("n_components", self.n_components, 1)
        check_choice("path", self.path, PATHS)
        check_choice("sampler", self.sampler, SAMPLERS)
        check_choice("means", self.means, MEANS)
        check_choice("select", self.select, SELECTIONS)
        check_preparation(self.center, self.scale, self.n_pca)
        learned = LEARN in (self.component_variance, self.base_variance)
        if learned and not self._is_sampled():
            raise InvalidSettingError(
                "variances are learned of Gaussian components with drawn means only, got 'auto' beside "
                f"likelihood={self.likelihood!r}, means={self.means!r}. Give numbers."
            )

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

    def _resolve_numbers(self, rows: Table) -> Numbers:
        spread = float(np.nanmean(np.nanvar(rows.values, axis=0))) if not rows.categories else 1.0
        return resolve_numbers(self._given_numbers(), spread if spread > 0.0 else 1.0)

    def _scale_advice(self) -> str | None:
        """What to do about rows that the variances do not fit."""
        if self.likelihood is not None:
            return None
        return advice_on_scale(self._bound.values, self.component_variance, self.base_variance)

    def _law_of(self, values: np.ndarray) -> Any:
        """The law of the components of some rows."""
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

    def _describe(self) -> dict[str, Any]:
        settings = {name: value for name, value in self.get_params(deep=False).items() if name != "run_dir"}
        return provenance.record(type(self).__name__, settings, self._seed)

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
        self.selected_draw_, levels = self._select_tree()
        self._set_levels(levels)
        self.tree_ = hierarchy_tree(self.posterior_, levels, self._row_names)
        self._kept = keep_draws(self._target, self._drawn, levels)
        self.scores_ = self._score_tree()
        described = describe_rows(self._table.take, self._table.n_columns, self.tree_, self.labels_)
        details = {"verdict": self.diagnostics_.verdict.sentence_for_readers, **self._judge_draws()}
        if (advice := self._scale_advice()) is not None:
            details["advice"] = advice
        self._set_result(described, details)

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

    def _select_tree(self) -> tuple[DrawPlace | None, np.ndarray]:
        """Where the draw shown stands (None for a consensus), and its paths."""
        posterior = self.posterior_
        if self.select == "consensus":
            rng = generator(self._seed, ESTIMATE_PATH)
            return None, posterior.consensus_paths(random_state=rng, n_jobs=self.n_jobs)
        if self.select == "central":
            place = posterior.central_draw()
        elif self.select == "best":
            place = posterior.best_draw("rcdl" if "rcdl" in posterior.scalars else "cdl")
        else:
            place = DrawPlace(*divmod(posterior.frequent_tree().draw, posterior.n_draws))
        return place, posterior.at(place)

    def _score_tree(self) -> dict[str, float]:
        """Scores of the tree shown; those of a draw are nan for a consensus, which is none."""
        scalars, place = self.posterior_.scalars, self.selected_draw_
        cdl = scalars["cdl"][place] if place is not None else np.nan
        rcdl = scalars["rcdl"][place] if place is not None and "rcdl" in scalars else cdl
        inner, outer = self._distances(self._shown)
        return {"cdl": float(cdl), "rcdl": float(rcdl), "aid": inner, "aod": outer}

    def _distances(self, nodes: PathNodes) -> tuple[float, float]:
        """AID and AOD of a tree, on the rows that are sampled; nan where cells are missing."""
        rows = self._bound.encoding.undo(self._bound.values)
        inner = inner_distances(rows, nodes)[nodes.has_sibling & (nodes.size > 1)]
        outer = sibling_distances(rows, nodes)
        return float(inner.mean()) if inner.size else np.nan, float(outer.mean()) if outer.size else np.nan

    def _judge_draws(self) -> dict[str, float]:
        """Mean AID and AOD of some draws, where any has siblings, and mean numbers of nodes of all."""
        most = int(np.clip(2e5 / self.labels_.size, 5, 100))
        chosen = np.linspace(0, len(self._drawn) - 1, min(most, len(self._drawn))).astype(int)
        found = np.array([self._distances(path_nodes(self._drawn[k]["paths"])) for k in chosen])
        distances = {"aid": found[:, 0], "aod": found[:, 1]}
        known = {name: values[np.isfinite(values)] for name, values in distances.items()}
        counted = {name: self.posterior_.scalars[name] for name in ("n_level_1", "n_clusters", "n_components")}
        return {f"mean_{name}": float(values.mean()) for name, values in {**known, **counted}.items() if values.size}

    def _set_result(self, description: Description | None, details: dict[str, Any]) -> None:
        self.result_ = Result(
            model=type(self).__name__,
            labels=self.labels_,
            tree=self.tree_,
            log_evidence=None,
            likelihood=self.likelihood_,
            feature_names=self._schema[0],
            provenance=self._about,
            details=details,
            posterior=self.posterior_,
            diagnostics=self.diagnostics_,
            description=description,
            exhibits=hierarchy_exhibits(self.posterior_, self.tree_, self.level_labels_),
        )

    # ---- new rows

    def _encoded_width(self, arrays: dict[str, np.ndarray]) -> int:
        return len(arrays["directions"]) or self.n_features_in_

    def _encoded(self, X: Any) -> tuple[np.ndarray, np.ndarray]:
        check_is_fitted(self, "tree_")
        table = read_input(self, X, reset=False)
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
            In the order of `level_labels_[:, level - 1]`; last, that the row branches off above the level.
        """
        values, _ = self._encoded(X)
        check_whole("level", level, 1)
        if level > self.depth:
            raise InvalidSettingError(f"levels are 1 .. {self.depth}, got {level}.", setting="level")
        return level_probabilities(self._masses(values), self._shown, level)

    def predict_paths(self, X: Any) -> np.ndarray:
        """The most probable path of each row, in the numbers of `level_labels_`; -1 from where it branches off.

        Parameters
        ----------
        X : array or data frame of shape (n_rows, n_columns)

        Returns
        -------
        int64 array of shape (n_rows, depth)
        """
        values, _ = self._encoded(X)
        return likely_paths(self._masses(values), self._shown)

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
        """Write one HTML file that shows the hierarchy, how sure it is, what sets leaves apart, and the chains.

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

    def _n_coordinates(self) -> int:
        """Length of a discriminant."""
        return 0

    def _file_parts(self) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
        return nested_file_parts(self)

    def _restore(self, document: dict[str, Any], arrays: dict[str, np.ndarray]) -> None:
        restore_nested(self, document, arrays)
