"""What a chain of tree mixtures never changes: the trees, the sizes of the tables, the priors."""

import itertools
import math
from typing import NamedTuple

import numpy as np

from bayesgrove.models.tree_hmm.gaussian import Gaussians, NormalGamma
from bayesgrove.models.tree_hmm.links import Links, unique_links
from bayesgrove.models.tree_hmm.parameters import TreePrior, make_prior
from bayesgrove.models.tree_hmm.tables import Shape, Strengths
from bayesgrove.trees.forest import Forest

VALUE_NAMES = (
    "concentration",
    "initial_strength",
    "emission_strength",
    "switching_strength",
    "transition_strength",
)
INFINITE_NAMES = ("state_concentration", "empty_strength", "filled_strength")
"""Numbers that only infinitely many states have: of their weights, and of the Beta distribution of empty slots."""
ALL_NAMES = VALUE_NAMES + INFINITE_NAMES
CONCENTRATION, INITIAL, EMISSION, SWITCHING, TRANSITION, STATE_CONCENTRATION, EMPTY, FILLED = range(8)
N_VALUES = len(ALL_NAMES)
N_INFINITE_STATES = 20
"""States of the weak limit that stands for infinitely many."""
FIRST_CONCENTRATION = 5.0
"""Of initial states, transitions and weights of infinitely many states, as chains begin."""
MOST_PERMUTED_STATES = 4
"""With more states proposals of split-merge moves are not made symmetric under renumbering them."""


class Target(NamedTuple):
    """A Dirichlet process mixture of hidden tree Markov models of one forest."""

    links: Links
    mode: int
    n_states: int
    n_labels: int
    """Rows of the emission table: labels, or different values of continuous ones."""
    n_positions: int
    values: np.ndarray
    """(8,): concentration, strengths of the four families of tables and `INFINITE_NAMES`, as chains begin."""
    hyperpriors: np.ndarray
    """(8, 2): shape and rate of the Gamma prior of each; nan where it stays fixed."""
    permutations: np.ndarray
    """int64 (n, C): renumberings of the states that proposals are symmetric under."""
    points: np.ndarray
    """(R, D): the different values of continuous labels; (0, 0) where labels are codes."""
    gaussian: np.ndarray
    """(4, D): mean, strength, shape and rate of the normal-gamma prior of continuous labels."""
    is_infinite: bool
    """Whether the states of a component share weights under a Dirichlet process (`hdp`)."""

    @property
    def n_trees(self) -> int:
        """Number of trees."""
        return int(self.links.roots.size)

    @property
    def shape(self) -> Shape:
        """Sizes of one component's tables."""
        return Shape(self.n_positions, self.n_states, self.n_labels, self.mode)


def make_target(
    forest: Forest,
    *,
    n_states: int | str,
    missing: str = "bottom_prior",
    concentration: float | str = 1.0,
    prior_strength: float | str | tuple[float | str, ...] = 1.0,
    links: Links | None = None,
) -> Target:
    """The model of a forest; "auto" learns a number under its Gamma(1, 1) prior.

    Parameters
    ----------
    n_states : int or "infinite"
    prior_strength : float, "auto", or four of them
        Of the Dirichlet priors of initial states, emissions, switching and transitions. With infinitely many states
        those of initial states and transitions are concentrations, always learned.
    links : Links, optional
        What passes go over; each different subtree once unless told otherwise.
    """
    strengths = prior_strength if isinstance(prior_strength, tuple) else (prior_strength,) * 4
    is_infinite = isinstance(n_states, str)
    values, hyperpriors = np.ones(N_VALUES), np.full((N_VALUES, 2), np.nan)
    for place, value in enumerate((concentration, *strengths)):
        if isinstance(value, str):
            hyperpriors[place] = 1.0
        else:
            values[place] = value
    if is_infinite:
        n_states = N_INFINITE_STATES
        for place in (INITIAL, TRANSITION, STATE_CONCENTRATION):
            values[place], hyperpriors[place] = FIRST_CONCENTRATION, 1.0
    prior = make_prior(forest, int(n_states), missing, strengths_of(values))
    return Target(
        Links(*(np.array(part) for part in links or unique_links(forest))),
        prior.mode,
        int(n_states),
        prior.shape.n_labels,
        forest.max_outdegree,
        values,
        hyperpriors,
        renumberings(int(n_states), is_infinite=is_infinite),
        np.empty((0, 0)) if prior.gaussians is None else np.array(prior.gaussians.values),
        np.empty((4, 0)) if prior.gaussians is None else np.array(prior.gaussians.prior),
        is_infinite,
    )


def prior_of(target: Target, values: np.ndarray) -> TreePrior:
    """The prior of one component, strengths being those of a state; of infinitely many states it is a finite guess."""
    strengths = strengths_of(values)
    if target.is_infinite:
        per_state = max(1.0, FIRST_CONCENTRATION / target.n_states)
        strengths = strengths._replace(initial=per_state, transition=per_state)
    if target.points.shape[1] == 0:
        return TreePrior(target.shape, strengths)
    return TreePrior(target.shape, strengths, Gaussians(NormalGamma(*target.gaussian), target.points))


def strengths_of(values: np.ndarray) -> Strengths:
    """Strengths of the four families among a state's values."""
    return Strengths(*values[INITIAL:STATE_CONCENTRATION].tolist())


def renumberings(n_states: int, *, is_infinite: bool = False) -> np.ndarray:
    """All permutations of a few states, else the one that changes nothing: int64 (n, C)."""
    if n_states > MOST_PERMUTED_STATES or is_infinite:
        return np.arange(n_states)[None]
    return np.array(list(itertools.permutations(range(n_states))), np.int64)


def log_hyperprior(target: Target, values: np.ndarray) -> float:
    """Log density of the numbers that are learned."""
    found = 0.0
    for value, (shape, rate) in zip(values.tolist(), target.hyperpriors.tolist(), strict=True):
        if not math.isnan(shape):
            found += shape * math.log(rate) - math.lgamma(shape) + (shape - 1.0) * math.log(value) - rate * value
    return found
