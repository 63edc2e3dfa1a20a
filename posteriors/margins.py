"""Factors that the penalties of RBHMC give to trees: means over the discriminants, by randomised quasi-Monte Carlo.

Every node below the root has eta ~ N(0, scale^2 I). zeta_nz = margin - (eta_v - eta_z)'x_n for datum n, its node v
at a level and a sibling z of v.

    "max"     E prod_n exp(-2C max(0, largest zeta of all levels and siblings))
    "chance"  E prod over data, levels and siblings of exp(-2C max(0, zeta)) / g_n, g_n the mean of one such factor

Means are over scrambled Sobol points, in `N_PARTS` independent scramblings whose spread gives the standard errors.
"""

import math
from collections.abc import Mapping, Sequence
from functools import cache
from typing import Any

import numpy as np
from scipy.special import log_ndtr, ndtri
from scipy.stats import qmc

from posteriors.codes import Labels
from posteriors.exact_nested import Levels, TreeLaw, nested_quantities
from posteriors.quantities import rounded

N_PARTS = 16
SEED = 20_261_116


def normal_points(n_dimensions: int, log2_points: int, part: int) -> np.ndarray:
    """Scrambled Sobol points as standard normal variates, shape (2^log2_points, n_dimensions)."""
    engine = qmc.Sobol(n_dimensions, scramble=True, rng=np.random.default_rng([SEED, part]))
    return ndtri(np.clip(engine.random_base2(log2_points), 1e-15, 1.0 - 1e-15))


def log_chance(strength: float, margin: float, spread: float) -> float:
    """log E exp(-2C max(0, zeta)), zeta ~ N(margin, spread^2), in closed form."""
    beyond = -2.0 * strength * margin + 2.0 * (strength * spread) ** 2
    inside = log_ndtr(margin / spread - 2.0 * strength * spread)
    return float(np.logaddexp(log_ndtr(-margin / spread), beyond + inside))


def log_factor_parts(
    rows: Sequence[Sequence[float]], trees: Sequence[Levels], parameters: Mapping[str, Any], log2_points: int
) -> np.ndarray:
    """Log factor of every tree in every part, shape (N_PARTS, n_trees)."""
    data = np.array(rows, float)
    of_tree = {"max": log_max_factor, "chance": log_chance_factor}[parameters["penalty"]]
    return np.array(
        [[of_tree(data, levels, parameters, log2_points, part) for levels in trees] for part in range(N_PARTS)]
    )


def sibling_groups(levels: Levels) -> list[tuple[int, dict[int, list[int]]]]:
    """Level and {node: data} of all nodes of one parent, where there is more than one."""
    found = []
    for level, labels in enumerate(levels):
        above = levels[level - 1] if level else (0,) * len(labels)
        for parent in dict.fromkeys(above):
            group: dict[int, list[int]] = {}
            for n, node in enumerate(labels):
                if above[n] == parent:
                    group.setdefault(node, []).append(n)
            if len(group) > 1:
                found.append((level, group))
    return found


def gaps(data: np.ndarray, group: Mapping[int, list[int]], eta: np.ndarray, margin: float):
    """(datum, zeta of shape (n_points, n_siblings)) of all data of a group; eta: (n_points, n_nodes, D)."""
    for place, members in enumerate(group.values()):
        for n in members:
            scores = eta @ data[n]
            yield n, margin - scores[:, [place]] + np.delete(scores, place, axis=1)


def log_chance_factor(data, levels: Levels, parameters, log2_points: int, part: int) -> float:
    """Groups of siblings are independent: the factor of a tree is a product over them."""
    key = tuple(map(tuple, data.tolist()))
    numbers = (parameters["C"], parameters["margin"], parameters["discriminant_scale"])
    groups = (tuple(tuple(members) for members in group.values()) for _, group in sibling_groups(levels))
    return math.fsum(log_group_chance(key, group, numbers, log2_points, part) for group in groups)


@cache
def log_group_chance(data, group: tuple[Labels, ...], numbers, log2_points: int, part: int) -> float:
    """Log factor of one group of siblings."""
    rows, (strength, margin, scale) = np.array(data), numbers
    points = scale * normal_points(len(group) * rows.shape[1], log2_points, part)
    eta = points.reshape(len(points), len(group), rows.shape[1])
    energy = np.zeros(len(points))
    for n, zeta in gaps(rows, dict(enumerate(group)), eta, margin):
        energy += 2.0 * strength * np.maximum(0.0, zeta).sum(axis=1)
        spread = scale * math.sqrt(2.0 * float(rows[n] @ rows[n]))
        energy += zeta.shape[1] * log_chance(strength, margin, spread)
    return math.log(float(np.exp(-energy).mean()))


def log_max_factor(data, levels: Levels, parameters, log2_points: int, part: int) -> float:
    """The worst margin of each datum, over all levels."""
    groups = [group for _, group in sibling_groups(levels)]
    n_nodes = sum(len(group) for group in groups)
    if not n_nodes:
        return 0.0
    points = parameters["discriminant_scale"] * normal_points(n_nodes * data.shape[1], log2_points, part)
    eta = points.reshape(len(points), n_nodes, data.shape[1])
    worst = np.zeros((len(data), len(points)))
    start = 0
    for group in groups:
        for n, zeta in gaps(data, group, eta[:, start : start + len(group)], parameters["margin"]):
            worst[n] = np.maximum(worst[n], zeta.max(axis=1))
        start += len(group)
    return math.log(float(np.exp(-2.0 * parameters["C"] * worst.sum(axis=0)).mean()))


def penalised_quantities(law: TreeLaw, parts: np.ndarray) -> dict[str, Any]:
    """Quantities under the mean factors, with standard errors from the parts."""
    found = nested_quantities(law, np.log(np.exp(parts).mean(axis=0)))
    each = [nested_quantities(law, part) for part in parts]
    for kind in ("laws", "counts"):
        for name, entry in found[kind].items():
            entry["errors"] = spread([own[kind][name]["probabilities"] for own in each])
    for name, entry in found["expectations"].items():
        entry["error"] = spread([own["expectations"][name]["value"] for own in each])
    for name, entry in found["together"].items():
        rows = zip(*(own["together"][name]["value"] for own in each), strict=True)
        entry["error"] = [spread(list(row)) for row in rows]
    found["log_evidence"]["error"] = spread([own["log_evidence"]["value"] for own in each])
    return found


def spread(values: list) -> Any:
    """Standard error of the mean over parts, entry by entry, two digits."""
    errors = np.std(np.array(values, float), axis=0, ddof=1) / math.sqrt(len(values))
    return [rounded(x, 2) for x in errors] if errors.ndim else rounded(errors, 2)


def pair_factor_by_grid(rows, group, numbers, half_width: float = 9.0, n_points: int = 1201) -> float:
    """Log factor of two siblings by a grid over the difference of their discriminants, for data in the plane.

    The difference is N(0, 2 scale^2 I); a check of the quasi-Monte Carlo means that shares no points with them.
    """
    data, (strength, margin, scale) = np.array(rows, float), numbers
    deviation = math.sqrt(2.0) * scale
    axis = np.linspace(-half_width, half_width, n_points)
    weight = np.exp(-0.5 * axis**2)
    weight /= weight.sum()
    first, second = np.meshgrid(axis * deviation, axis * deviation, indexing="ij")
    energy = np.zeros_like(first)
    for sign, members in zip((1.0, -1.0), group, strict=True):
        for n in members:
            zeta = margin - sign * (first * data[n, 0] + second * data[n, 1])
            energy += 2.0 * strength * np.maximum(0.0, zeta)
            energy += log_chance(strength, margin, deviation * math.sqrt(float(data[n] @ data[n])))
    return math.log(float(weight @ np.exp(-energy) @ weight))
