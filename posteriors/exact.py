"""From a problem to its document: solve it, say how, and how far two ways of solving it are apart."""

from typing import Any

import bayesgrove
from posteriors.exact_nested import nested_quantities, tree_law
from posteriors.exact_partitions import greedy_tree, partition_quantities
from posteriors.exact_trees import tree_mixture_quantities
from posteriors.exact_views import view_quantities
from posteriors.marginals import table_marginal
from posteriors.margins import N_PARTS, log_factor_parts, penalised_quantities
from posteriors.problems import EXACT, Problem
from posteriors.processes import (
    Prior,
    dirichlet,
    finite_mixture,
    generalised_gamma,
    pitman_yor,
    random_dirichlet,
    random_generalised_gamma,
)
from posteriors.quantities import rounded
from posteriors.words import CELLS, MISSING, NESTED, PENALTY, PROCESSES, TREES, VIEWS

FORMAT = "bayesgrove-posterior/1"
LOG2_POINTS = 15


def exact_document(name: str, log2_points: int = LOG2_POINTS) -> dict[str, Any]:
    """The whole document of an exact problem."""
    problem = EXACT[name]
    solved = SOLVERS[problem.family](problem, log2_points)
    quantities = solved.pop("quantities")
    return {
        **head(name, problem, "exact", list(quantities["counts"])),
        "quantities": quantities,
        "fit": fit_of(problem),
        "made": {"command": f"python -m posteriors make {name}", "version": bayesgrove.__version__, **solved},
    }


def head(name: str, problem: Problem, kind: str, partitions: list[str]) -> dict[str, Any]:
    """What a document says before its quantities."""
    items = {"views": "columns"}
    default = "trees" if problem.family == "trees" else "rows"
    return {
        "format": FORMAT,
        "name": name,
        "title": problem.title,
        "kind": kind,
        "data": problem.data,
        "model": {
            "description": description(problem),
            "parameters": problem.parameters,
            **({"columns": problem.columns} if problem.columns else {}),
        },
        "partitions": {own: items.get(own, default) for own in partitions if own != "components"},
    }


def description(problem: Problem) -> list[str]:
    """The model in words and formulas."""
    parameters = problem.parameters
    if problem.family == "mixture":
        process = "nggp" if parameters["process"] == "nig" else parameters["process"]
        return PROCESSES[process] + cell_laws(problem)
    if problem.family == "views":
        return VIEWS + cell_laws(problem)
    if problem.family == "nested":
        return NESTED + (PENALTY[parameters["penalty"]] if "penalty" in parameters else [])
    return [*TREES, MISSING[parameters["missing"]]]


def cell_laws(problem: Problem) -> list[str]:
    """The law of each family of columns that occurs."""
    families = dict.fromkeys(column["family"] for column in problem.columns)
    return [f"{family}: {CELLS[family]}." for family in families]


def fit_of(problem: Problem) -> dict[str, Any]:
    """How bayesgrove is asked for this posterior; likelihoods are in model.columns."""
    settings = {
        key: "auto" if isinstance(value, str) and "(" in value else value for key, value in problem.parameters.items()
    }
    estimator = {"mixture": "NRMMixture", "views": "CrossCat", "nested": "BHMC", "trees": "InfiniteTreeHMMMixture"}
    if problem.parameters.get("process") in ("dp", "nig"):
        settings.pop("sigma", None)
    found = "RBHMC" if "penalty" in settings else estimator[problem.family]
    return {"estimator": found, "settings": settings}


def prior_of(parameters: dict[str, Any]) -> Prior:
    """The prior over partitions of a mixture."""
    random = isinstance(parameters["concentration"], str)
    if parameters["process"] == "dp":
        return random_dirichlet(1.0, 1.0) if random else dirichlet(parameters["concentration"])
    if parameters["process"] == "pitman-yor":
        return pitman_yor(parameters["concentration"], parameters["sigma"])
    if parameters["process"] == "mfm":
        return finite_mixture(parameters["concentration"], parameters["components"][1])
    if random:
        return random_generalised_gamma((1.5, 1.5))
    return generalised_gamma(parameters["concentration"], parameters["sigma"])


def solve_mixture(problem: Problem, _: int) -> dict[str, Any]:
    """All partitions; for a Dirichlet process with a given concentration also the greedy tree."""
    rows, parameters = problem.data["rows"], problem.parameters
    found = partition_quantities(rows, problem.columns, prior_of(parameters))
    if parameters["process"] == "dp" and not isinstance(parameters["concentration"], str):
        log_block = table_marginal(rows, problem.columns)
        found["quantities"]["greedy_tree"] = greedy_tree(len(rows), log_block, parameters["concentration"])
    return {
        "quantities": found["quantities"],
        "method": "enumeration of all partitions, closed marginals",
        "check": {
            "method": "the same with products of predictive densities, and the prior by another formula or quadrature",
            "difference": rounded(found["difference"], 2),
        },
    }


def solve_views(problem: Problem, _: int) -> dict[str, Any]:
    """All views times all row partitions."""
    rows = problem.data["rows"]
    few = len(rows) <= 4 and len(problem.columns) <= 3  # 4,065 states
    found = view_quantities(rows, problem.columns, problem.parameters, with_joint_law=few)
    return {
        "quantities": found["quantities"],
        "method": "enumeration of all views of the columns and all partitions of the rows",
        "check": {
            "method": "the law of the views with products of predictive densities and of seats",
            "difference": rounded(found["difference"], 2),
        },
    }


def solve_nested(problem: Problem, log2_points: int) -> dict[str, Any]:
    """All trees; penalties by randomised quasi-Monte Carlo."""
    rows, parameters = problem.data["rows"], problem.parameters
    law = tree_law(rows, parameters["depth"], parameters)
    check = {
        "method": "probabilities of the component partitions given a tree sum to 1 for every tree; tests compare with "
        "an enumeration of all seatings",
        "difference": rounded(law.worst_total, 2),
    }
    method = "enumeration of all trees and component partitions, weights integrated out by Stirling numbers"
    if "penalty" not in parameters:
        return {"quantities": nested_quantities(law), "method": method, "check": check}
    parts = log_factor_parts(rows, law.trees, parameters, log2_points)
    method += (
        f"; means over discriminants by {N_PARTS} scrambled Sobol sets of {2**log2_points} points, errors by spread"
    )
    return {"quantities": penalised_quantities(law, parts), "method": method, "check": check}


def solve_trees(problem: Problem, _: int) -> dict[str, Any]:
    """All partitions of the trees, all hidden states and switches."""
    found = tree_mixture_quantities(problem.data, problem.parameters)
    return {
        "quantities": found["quantities"],
        "method": "enumeration of all partitions, hidden states and switches, tables integrated out by pooled counts",
        "check": {
            "method": "every complete state on its own, draw by draw from urns",
            "difference": rounded(found["difference"], 2),
        },
    }


SOLVERS = {"mixture": solve_mixture, "views": solve_views, "nested": solve_nested, "trees": solve_trees}
