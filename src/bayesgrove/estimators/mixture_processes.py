"""The prior over partitions of a mixture, from the settings a user gives."""

import math
from typing import Any

import numpy as np

from bayesgrove.core.errors import InvalidSettingError
from bayesgrove.estimators.settings import check_choice, check_learnable
from bayesgrove.inference.posterior import Posterior
from bayesgrove.models.nrm.process import DIRICHLET, FINITE, GENERALISED_GAMMA, PITMAN_YOR, Process
from bayesgrove.stats.processes import BETA_NEGATIVE_BINOMIAL, GEOMETRIC, LEAST_FINITE, POISSON, Components

KINDS = {
    "dp": DIRICHLET,
    "nggp": GENERALISED_GAMMA,
    "nig": GENERALISED_GAMMA,
    "pitman-yor": PITMAN_YOR,
    "mfm": FINITE,
}
IN_PAPER = ("dp", "nggp", "nig")
"""Processes that the published sampler knows."""
DISCOUNT_PRIOR = 1.0, 4.0
"""Beta prior of a learned discount. One that does not vanish fast near 1 makes n clusters of one group of n rows."""
COMPONENTS = {
    "beta-negative-binomial": (BETA_NEGATIVE_BINOMIAL, (1.0, 4.0, 3.0)),
    "geometric": (GEOMETRIC, (0.1,)),
    "poisson": (POISSON, (1.0,)),
}
"""Priors of the number of components by name, with their default parameters."""


def is_auto(value: Any) -> bool:
    """Whether a setting is to be learned."""
    return isinstance(value, str) and value == "auto"


def refuse_as_likelihood(likelihood: Any) -> None:
    """Refuse the name of a process where the likelihood belongs, which is the first argument."""
    if isinstance(likelihood, str) and likelihood in KINDS:
        raise InvalidSettingError(
            f"likelihood, the first argument, must be a likelihood or the name of one, got {likelihood!r}. "
            f"Give process={likelihood!r}.",
            setting="likelihood",
        )


def resolve_process(process: str, concentration: Any, sigma: Any, components: Any) -> Process:
    """The process that settings describe, or an error that names the one at fault."""
    check_choice("process", process, tuple(KINDS))
    if process == "pitman-yor":
        return pitman_yor(concentration, sigma)
    check_learnable("concentration", concentration)
    alpha, free_alpha = (1.0, True) if is_auto(concentration) else (float(concentration), False)
    if process == "dp":
        return Process(DIRICHLET, alpha, 0.0, free_alpha, False)
    if process == "nig":
        return Process(GENERALISED_GAMMA, alpha, 0.5, free_alpha, False)
    if process == "mfm":
        if alpha < LEAST_FINITE:
            raise InvalidSettingError(
                f"concentration of the 'mfm' must be at least {LEAST_FINITE}, got {concentration!r}. Try 1.0."
            )
        return Process(FINITE, alpha, 0.0, free_alpha, False, components=resolve_components(components))
    if not is_auto(sigma) and not (isinstance(sigma, float | np.floating) and 0.0 < sigma < 1.0):
        raise InvalidSettingError(f"sigma must lie between 0 and 1 or be 'auto', got {sigma!r}. Try 0.5.")
    return Process(GENERALISED_GAMMA, alpha, 0.5 if is_auto(sigma) else float(sigma), free_alpha, is_auto(sigma))


def pitman_yor(concentration: Any, sigma: Any) -> Process:
    """Pitman and Yor's process: the discount in [0, 1), the concentration above -discount."""
    if not is_auto(sigma) and not (is_number(sigma) and 0.0 <= sigma < 1.0):
        raise InvalidSettingError(
            f"sigma of the 'pitman-yor' must be at least 0 and below 1 or be 'auto', got {sigma!r}. Try 0.25."
        )
    least = -1.0 if is_auto(sigma) else -float(sigma)
    if not is_auto(concentration) and not (is_number(concentration) and least < concentration < math.inf):
        raise InvalidSettingError(
            f"concentration of the 'pitman-yor' must be a finite number above -sigma ({least:g}) or 'auto', got "
            f"{concentration!r}. Try 1.0."
        )
    alpha = 1.0 if is_auto(concentration) else float(concentration)
    start = max(0.2, 0.5 * (1.0 - alpha)) if is_auto(sigma) else float(sigma)
    return Process(PITMAN_YOR, alpha, start, is_auto(concentration), is_auto(sigma), 1.0, 1.0, *DISCOUNT_PRIOR)


def is_number(value: Any) -> bool:
    """Whether a setting is a number."""
    return isinstance(value, int | float | np.number) and not isinstance(value, bool)


def resolve_components(given: Any) -> Components:
    """The prior of the number of components: a name, or a name with its parameters."""
    name, *numbers = (given,) if isinstance(given, str) else tuple(given)
    check_choice("components", name, tuple(COMPONENTS))
    kind, default = COMPONENTS[name]
    numbers = numbers or list(default)
    if len(numbers) != len(default) or not all(is_number(x) and 0.0 < x < math.inf for x in numbers):
        raise InvalidSettingError(
            f"components={name!r} takes {len(default)} positive number(s), got {numbers!r}. Try {(name, *default)!r}."
        )
    if kind == GEOMETRIC and not numbers[0] < 1.0:
        raise InvalidSettingError(f"the probability of a geometric prior must be below 1, got {numbers[0]!r}. Try 0.1.")
    return Components(float(kind), *(float(x) for x in (*numbers, 0.0, 0.0)[:3]))


def made_process(given: list[float]) -> Process:
    """The process of a file."""
    kind, alpha, sigma, free_alpha, free_sigma, *hyper = given
    process = Process(int(kind), alpha, sigma, bool(free_alpha), bool(free_sigma))
    shape, rate, a, b = hyper[:4]
    process = process._replace(alpha_shape=shape, alpha_rate=rate, sigma_a=a, sigma_b=b)
    return process._replace(components=Components(*map(float, hyper[4:]))) if len(hyper) > 4 else process


def is_process(process: Process) -> bool:
    """Whether a process of a file is one."""
    least = {PITMAN_YOR: -process.sigma, FINITE: 0.0}.get(process.kind, -math.inf)
    return process.kind in KINDS.values() and 0.0 <= process.sigma < 1.0 and process.alpha > least


def numbers_of_draws(process: Process, posterior: Posterior) -> np.ndarray:
    """v, alpha and sigma of all draws, (n_chains * n_draws, 3)."""
    numbers = np.tile([0.0, process.alpha, process.sigma], (posterior.n_chains * posterior.n_draws, 1))
    for place, name in enumerate(("log_u", "concentration", "sigma")):
        if name in posterior.scalars:
            numbers[:, place] = posterior.scalars[name].ravel()
    return numbers
