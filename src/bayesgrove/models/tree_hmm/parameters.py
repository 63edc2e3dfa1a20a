"""A component's whole distribution: tables of rows, and for continuous labels the moments behind the emission rows."""

from typing import NamedTuple

import numpy as np
from scipy.special import digamma, gammaln

from bayesgrove.core.errors import InvalidSettingError, InvalidTreeError
from bayesgrove.models.tree_hmm import gaussian
from bayesgrove.models.tree_hmm.gaussian import Gaussians
from bayesgrove.models.tree_hmm.links import node_values
from bayesgrove.models.tree_hmm.tables import (
    MODES,
    RENORM,
    Counts,
    Shape,
    Strengths,
    Tables,
    draw_tables,
    expected_log,
    free_cells,
    posterior_cells,
    zero_counts,
)
from bayesgrove.models.tree_hmm.tables import log_prior as log_prior_of_tables
from bayesgrove.trees.forest import Forest


class TreePrior(NamedTuple):
    """Sizes of the tables and the prior of everything in them."""

    shape: Shape
    strengths: Strengths
    gaussians: Gaussians | None = None
    """None where labels are codes."""

    @property
    def mode(self) -> int:
        """How an absent child counts."""
        return self.shape.mode

    def with_states(self, n_states: int) -> "TreePrior":
        """The same with another number of hidden states."""
        return self._replace(shape=self.shape._replace(n_states=n_states))


class Parameters(NamedTuple):
    """Tables of K components; the emission rows of Gaussians are made from their moments."""

    tables: Tables
    moments: np.ndarray
    """(K, C, n_columns, 2): mean and variance by state; no columns where labels are codes."""

    @property
    def n_components(self) -> int:
        """K."""
        return len(self.tables.switching)


def make_prior(
    forest: Forest, n_states: int, missing: str = "bottom_prior", prior_strength: float | Strengths = 1.0
) -> TreePrior:
    """The prior for a forest: Dirichlet rows, and a weak normal-gamma distribution where labels are numbers."""
    if missing not in MODES:
        raise InvalidSettingError(f"missing is one of {', '.join(MODES)}, got {missing!r}. Choose one of these.")
    check_switches(forest, MODES[missing])
    if n_states < 1:
        raise InvalidSettingError(f"n_states is at least 1, got {n_states}. Try 4 or 8.")
    strengths = prior_strength if isinstance(prior_strength, Strengths) else Strengths(*[float(prior_strength)] * 4)
    if min(strengths) <= 0:
        raise InvalidSettingError(f"prior_strength is above 0, got {min(strengths)}. 1 is a flat prior.")
    values = node_values(forest)
    n_labels = forest.n_labels if values is None else len(values)
    shape = Shape(forest.max_outdegree, n_states, n_labels, MODES[missing])
    return TreePrior(shape, strengths, None if values is None else gaussian.default_gaussians(values))


def check_switches(forest: Forest, mode: int) -> None:
    """Raise `InvalidTreeError` for an internal node without children where switching is renormalised."""
    childless = forest.internal & (np.diff(forest.child_start) == 0)
    if mode == RENORM and childless.any():
        tree, node = forest.place_of(int(np.argmax(childless)))
        raise InvalidTreeError(
            f'tree {tree}, node {node}: with missing="renorm" an internal node looks at one of its children, got none. '
            'Choose missing="bottom_prior" or "bottom", or flag the node as a leaf.',
            tree=tree,
            node=node,
        )


def with_values(prior: TreePrior, parameters: Parameters, values: np.ndarray) -> Parameters:
    """The same components with emission rows for other values than those they were fitted to."""
    if prior.gaussians is None:
        return parameters
    return _complete(prior._replace(gaussians=prior.gaussians._replace(values=values)), *parameters)


def select_parameters(parameters: Parameters, components: np.ndarray) -> Parameters:
    """Some components, in the order asked for."""
    return Parameters(Tables(*(part[components] for part in parameters.tables)), parameters.moments[components])


def select_counts(counts: Counts, components: np.ndarray) -> Counts:
    """Counts of some components, in the order asked for."""
    return Counts(*(part[components] for part in counts))


def random_parameters(
    rng: np.random.Generator, prior: TreePrior, n_components: int, concentration: float = 1.0
) -> Parameters:
    """Where fits start: rows from Dirichlet(concentration) whatever the prior's strengths, moments from the prior."""
    return draw_prior(rng, prior._replace(strengths=Strengths(*[concentration] * 4)), n_components)


def draw_prior(rng: np.random.Generator, prior: TreePrior, n_components: int) -> Parameters:
    """Components drawn from the prior."""
    return draw_posterior(rng, prior, zero_counts(n_components, prior.shape))


def draw_posterior(rng: np.random.Generator, prior: TreePrior, counts: Counts) -> Parameters:
    """Components drawn given counts; a renormalised switch needs the sampler's auxiliary step besides."""
    tables = draw_tables(rng, _rows_only(prior, counts), prior.strengths, prior.mode)
    if prior.gaussians is None:
        return Parameters(tables, _no_moments(counts))
    return _complete(prior, tables, gaussian.draw_moments(rng, prior.gaussians, counts.emission))


def most_probable(prior: TreePrior, counts: Counts, previous: Parameters) -> Parameters:
    """The M-step: normalised counts + strength - 1, not below 0; a row without any keeps its previous values.

    Notes
    -----
    Where switching is renormalised, the terms log Phi depend on it too, and normalised counts may lower the
    likelihood; the minorised objective is largest at (n_l + a - 1) / (sum of weight / Phi + L (a - 1)), which is then
    normalised (docs/theory/tree-mixtures.md, EM).
    """
    old, strengths = previous.tables, prior.strengths
    counted = _rows_only(prior, counts)
    cells = posterior_cells(counted, Strengths(*(strength - 1.0 for strength in strengths)), prior.mode)
    switching = np.maximum(cells.switching, 0.0)
    if prior.mode == RENORM:
        exposure = counts.present + prior.shape.n_positions * (strengths.switching - 1.0)
        switching = np.divide(switching, exposure, out=old.switching.copy(), where=exposure > 0.0)
    tables = Tables(
        _normalised(cells.initial, old.initial, 2),
        old.emission if prior.gaussians else _normalised(cells.emission, old.emission, 1),
        _normalised(switching, old.switching, 1),
        _normalised(cells.transition, old.transition, 3),
        old.log_scale,
    )
    if prior.gaussians is None:
        return Parameters(tables, previous.moments)
    return _complete(prior, tables, gaussian.most_probable_moments(prior.gaussians, counts.emission))


def log_prior(prior: TreePrior, parameters: Parameters) -> np.ndarray:
    """(K,): log density of each component under the prior."""
    tables = parameters.tables
    if prior.gaussians is None:
        return log_prior_of_tables(tables, prior.strengths, prior.mode)
    n_components, n_states = parameters.moments.shape[:2]
    rows = log_prior_of_tables(
        tables._replace(emission=np.ones((n_components, 1, n_states))), prior.strengths, prior.mode
    )
    nothing = np.zeros((n_components, prior.shape.n_labels, n_states))
    return rows + gaussian.log_density_of_moments(prior.gaussians, parameters.moments, nothing)


def expected_tables(prior: TreePrior, counts: Counts) -> Tables:
    """exp(E log) of all cells when rows are Dirichlet(strength + counts): what variational passes go over.

    Notes
    -----
    Where switching is renormalised, phi is lambda over its sum with lambda_l ~ Gamma(strength, 1), and 1 / Phi is the
    integral of exp(-z Lambda) over z. With exponential distributions of all z, a node's factor becomes exp(E log
    lambda_l) over the sum of E lambda at present positions: the engine is given E lambda, and the ratio goes into
    `transition`.
    """
    cells = posterior_cells(_rows_only(prior, counts), prior.strengths, prior.mode)
    tables = expected_log(cells, prior.mode)
    if prior.mode == RENORM:
        ratio = np.exp(digamma(cells.switching)) / cells.switching
        tables = tables._replace(
            switching=cells.switching / (1.0 + counts.present), transition=tables.transition * ratio[:, :, None, None]
        )
    if prior.gaussians is None:
        return tables
    emission, log_scale = gaussian.expected_rows(prior.gaussians, counts.emission)
    return tables._replace(emission=emission, log_scale=log_scale)


def divergence(prior: TreePrior, counts: Counts) -> np.ndarray:
    """(K,): Kullback-Leibler divergence of the distribution given counts from the prior."""
    strengths, free = prior.strengths, free_cells(prior.shape)
    found = _dirichlet_divergence(np.where(free, counts.initial, 0.0), strengths.initial, free.sum(1)).sum(1)
    found += _dirichlet_divergence(counts.transition, strengths.transition, prior.shape.n_states).sum((1, 2))
    if prior.mode == RENORM:
        found += _gamma_divergence(counts.switching, counts.present, strengths.switching)
    else:
        found += _dirichlet_divergence(counts.switching, strengths.switching, prior.shape.n_positions)
    if prior.gaussians is not None:
        return found + gaussian.divergence_of_moments(prior.gaussians, counts.emission)
    labels = np.swapaxes(counts.emission, 1, 2)
    return found + _dirichlet_divergence(labels, strengths.emission, prior.shape.n_labels).sum(1)


def _dirichlet_divergence(counts: np.ndarray, strength: float, size: int | np.ndarray) -> np.ndarray:
    """Of Dirichlet(strength + counts) from the symmetric Dirichlet(strength), rows along the last axis."""
    cells = counts + strength
    total = counts.sum(-1) + size * strength
    surprise = counts * digamma(cells) - gammaln(cells) + gammaln(strength)
    found: np.ndarray = surprise.sum(-1) + gammaln(total) - gammaln(size * strength)
    return found - counts.sum(-1) * digamma(total)


def _gamma_divergence(counts: np.ndarray, exposure: np.ndarray, strength: float) -> np.ndarray:
    """Of Gamma(strength + counts, 1 + exposure) from Gamma(strength, 1), summed along the last axis."""
    shape = strength + counts
    spread = counts * digamma(shape) - gammaln(shape) + gammaln(strength)
    scale = strength * np.log1p(exposure) - shape * exposure / (1.0 + exposure)
    return (spread + scale).sum(-1)


def _rows_only(prior: TreePrior, counts: Counts) -> Counts:
    """Counts whose emission part is a single row where values are no rows of a Dirichlet distribution."""
    if prior.gaussians is None:
        return counts
    return counts._replace(emission=np.zeros((len(counts.switching), 1, prior.shape.n_states)))


def _complete(prior: TreePrior, tables: Tables, moments: np.ndarray) -> Parameters:
    """Tables with the emission rows of Gaussians with these moments."""
    if prior.gaussians is None:
        return Parameters(tables, moments)
    emission, log_scale = gaussian.density_rows(prior.gaussians, moments)
    return Parameters(tables._replace(emission=emission, log_scale=log_scale), moments)


def _no_moments(counts: Counts) -> np.ndarray:
    return np.zeros((len(counts.switching), counts.transition.shape[3], 0, 2))


def _normalised(cells: np.ndarray, previous: np.ndarray, axis: int) -> np.ndarray:
    """Rows of cells (clipped at 0) divided by their sums, previous ones where the sum is 0."""
    clipped = np.maximum(cells, 0.0)
    total = clipped.sum(axis, keepdims=True)
    return np.where(total > 0.0, clipped / np.where(total > 0.0, total, 1.0), previous)
