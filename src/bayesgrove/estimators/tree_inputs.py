"""What users hand to estimators of trees, in the labels and positions of the model."""

import logging
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from bayesgrove.core.errors import InvalidInputError, InvalidSettingError, InvalidTreeError, MemoryLimitError
from bayesgrove.estimators.settings import check_choice, check_learnable, check_positive, check_whole
from bayesgrove.io.tree_data import TreeData
from bayesgrove.io.tree_labels import UNSEEN_RULES
from bayesgrove.models.tree_hmm import fit as fitting
from bayesgrove.models.tree_hmm.positions import POSITIONS
from bayesgrove.models.tree_hmm.tables import MODES, Strengths
from bayesgrove.trees.forest import OVERFLOW_RULES

EMISSIONS = ("auto", "discrete", "gaussian")
LEARN = "auto"
STARTS_OF_PAPER = ("auto", "one")
MOST_TABLE_BYTES = 2 * 2**30


class TreeSchema(NamedTuple):
    """Labels and positions of the trees a model was fitted to."""

    vocabulary: tuple[str, ...] | None
    """Texts of the labels; None where labels are codes or numbers."""
    n_labels: int
    """Number of codes; 0 where labels are numbers."""
    max_outdegree: int
    n_columns: int
    """Numbers at every node; 0 where labels are texts or codes."""


def check_tree_settings(model: Any) -> None:
    """Refuse settings of data and prior that all estimators of trees share."""
    check_choice("missing", model.missing, tuple(MODES))
    check_choice("emission", model.emission, EMISSIONS)
    check_choice("unseen", model.unseen, UNSEEN_RULES)
    check_choice("overflow", model.overflow, OVERFLOW_RULES)
    check_whole("min_count", model.min_count, 1)


def check_em_settings(model: Any) -> None:
    """Refuse settings of starts and steps that are no numbers."""
    check_whole("n_init", model.n_init, 1)
    check_whole("max_iter", model.max_iter, 1)
    if isinstance(model.tol, bool) or not isinstance(model.tol, int | float | np.number) or not model.tol >= 0:
        raise InvalidSettingError(f"tol is a number that is not negative, got {model.tol!r}. 0 runs all of max_iter.")


def check_infinite_settings(model: Any, *, may_learn: bool) -> None:
    """Refuse settings of the Dirichlet process mixture that are none of the choices; chains may learn numbers."""
    check_choice("method", model.method, fitting.METHODS)
    if isinstance(model.init, str):
        check_choice("init", model.init, fitting.INITS)
    if model.method == "paper" and not (isinstance(model.init, str) and model.init in STARTS_OF_PAPER):
        raise InvalidSettingError(
            f'method="paper" begins with one cluster, as printed, got init={model.init!r:.60}. Leave init at "auto", '
            'or take method="gibbs".',
            setting="init",
        )
    check_choice("positions", model.positions, POSITIONS)
    check_whole("n_init", model.n_init, 1)
    if model.max_iter is not None:
        check_whole("max_iter", model.max_iter, 1)
    if model.concentration is not None:
        check_learnable("concentration", model.concentration, may_learn=may_learn)
    if model.prior_strength is not None:
        check_strength(model.prior_strength, may_learn=may_learn)
    given = model.n_states
    if not isinstance(given, str):
        check_whole("n_states", given, 1)
    elif given == fitting.INFINITE and model.method != "gibbs":
        raise InvalidSettingError(f'n_states="infinite" needs method="gibbs", got {model.method!r}. Take a number.')
    elif given not in (fitting.AUTO, fitting.INFINITE):
        raise InvalidSettingError(f"n_states must be a whole number, 'auto' or 'infinite', got {given!r}. Try 4.")


def check_memory(data: TreeData, model: Any) -> None:
    """Refuse tables larger than the limit before anything of their size is made."""
    n_states = model.n_states if isinstance(model.n_states, int | np.integer) else 1
    n_clusters = int(getattr(model, "n_clusters", 1))
    n_positions, n_labels = data.max_outdegree, max(data.n_labels, 1)
    n_bytes = 8 * n_clusters * int(n_states) * (n_positions * (int(n_states) + 1) + n_labels)
    if n_bytes > MOST_TABLE_BYTES:
        raise MemoryLimitError(
            f"tables of {n_clusters} clusters, {n_states} states, {n_positions} positions and {n_labels} labels take "
            f"{n_bytes // 2**30} GiB, more than {MOST_TABLE_BYTES // 2**30}. Take fewer of them.",
            n_bytes=n_bytes,
        )


def check_strength(value: Any, *, may_learn: bool = False) -> Any:
    """Strengths of the four families of tables: a number, four of them by name, or "auto" where they are learned."""
    if isinstance(value, str) and value == LEARN and may_learn:
        return LEARN
    if isinstance(value, str):
        choices = "a positive number or 'auto'" if may_learn else "a positive number"
        raise InvalidSettingError(f"prior_strength must be {choices}, got {value!r}. Try 1.0.")
    if not isinstance(value, dict):
        check_positive("prior_strength", value)
        return Strengths(*[float(value)] * 4)
    unknown = sorted(set(value) - set(Strengths._fields))
    if unknown:
        raise InvalidSettingError(
            f"prior_strength by table has the keys {', '.join(Strengths._fields)}, got {unknown}. Leave them out."
        )
    for name, strength in value.items():
        check_positive(f"prior_strength[{name!r}]", strength)
    return Strengths(**{name: float(strength) for name, strength in value.items()})


def checked_trees(X: Any, name: str) -> TreeData:
    """The trees, or an error that says how to make some."""
    if not isinstance(X, TreeData):
        raise InvalidInputError(
            f"{name} takes trees, a TreeData, got {type(X).__name__}. Make one with bayesgrove.read_trees(files) or "
            "TreeData.from_xml, from_json, from_parents, ...; for tables take BHC or NRMMixture."
        )
    if not len(X):
        raise InvalidInputError(f"{name} needs at least one tree, got none. Was everything skipped when it was read?")
    return X


def fitting_trees(X: Any, model: Any) -> tuple[TreeData, TreeSchema]:
    """Trees to fit, with only the labels that occur, and what new ones must be brought to."""
    data = checked_trees(X, type(model).__name__)
    check_emission(data, model.emission)
    if data.forest.values is None and data.vocabulary is not None:
        data = data.with_own_vocabulary(model.min_count, reserve_rare=model.unseen == "rare")
    check_childless(data, model.missing)
    n_columns = 0 if data.forest.values is None else data.forest.values.shape[1]
    n_labels = 0 if n_columns else max(data.n_labels, 1)
    if not n_columns and data.n_labels == 0:  # every label is unknown
        data = with_n_labels(data, 1)
    check_memory(data, model)
    return data, TreeSchema(data.vocabulary or None, n_labels, data.max_outdegree, n_columns)


def tree_counts(sample_weight: Any, n_trees: int) -> np.ndarray | None:
    """How many trees each tree stands for; None where each stands for itself."""
    if sample_weight is None:
        return None
    counts = np.asarray(sample_weight)
    if counts.shape != (n_trees,):
        raise InvalidSettingError(
            f"sample_weight must have one count for each of the {n_trees} trees, got shape {counts.shape}.",
            setting="sample_weight",
        )
    if counts.dtype.kind not in "biuf" or not np.all((counts >= 1) & (counts == np.floor(counts)) & (counts < np.inf)):
        raise InvalidSettingError(
            "sample_weight must hold whole numbers from 1: how many equal trees each one stands for. "
            "Leave out trees that stand for none.",
            setting="sample_weight",
        )
    return counts.astype(np.float64)


def with_n_labels(data: TreeData, n_labels: int) -> TreeData:
    """The same codes, more of which might have occurred."""
    return TreeData(data.forest.with_labels(data.forest.labels, n_labels), None, data.sources, data.targets)


def check_emission(data: TreeData, emission: str) -> None:
    """Refuse a distribution of emissions that does not fit the labels."""
    is_continuous = data.forest.values is not None
    if emission == "gaussian" and not is_continuous:
        raise InvalidSettingError(
            'emission="gaussian" is for trees whose labels are numbers, and these have texts or codes. Give floats to '
            'TreeData.from_parents, or take emission="auto".'
        )
    if emission == "discrete" and is_continuous:
        raise InvalidSettingError(
            'emission="discrete" is for trees whose labels are texts or codes, and these have numbers. Code them, or '
            'take emission="auto".'
        )


def check_childless(data: TreeData, missing: str) -> None:
    """Refuse internal nodes without children where switches look at present children only."""
    if missing != "renorm":
        return
    forest = data.forest
    childless = np.flatnonzero(forest.internal & (np.diff(forest.child_start) == 0))
    if childless.size:
        tree, node = forest.place_of(int(childless[0]))
        raise InvalidTreeError(
            f'tree {tree}, node {node}: missing="renorm" needs a child at every internal node, and this one has none. '
            'Take missing="bottom_prior".',
            tree=tree,
            node=node,
        )


def new_trees(X: Any, model: Any, schema: TreeSchema) -> TreeData:
    """New trees in the model's labels and positions; what had to give way is counted and logged."""
    data = checked_trees(X, type(model).__name__)
    n_columns = 0 if data.forest.values is None else data.forest.values.shape[1]
    if n_columns != schema.n_columns:
        words = [f"{n} numbers" if n else "texts or codes" for n in (schema.n_columns, n_columns)]
        raise InvalidInputError(f"labels of the trees fitted were {words[0]}, these are {words[1]}. Use one kind.")
    if not n_columns:
        known = schema.n_labels if schema.vocabulary is None else schema.vocabulary
        data = data.with_vocabulary(known, unseen=model.unseen)
    if getattr(model, "_shares_positions", False):
        data = with_shared_positions(data)
    else:
        data = data.with_max_outdegree(schema.max_outdegree, model.overflow)
    check_childless(data, model.missing)
    tell(data)
    return data


def with_shared_positions(data: TreeData) -> TreeData:
    """The same trees with all children at one position."""
    return replace(data, forest=data.forest.with_max_outdegree(1)[0], n_overflowing=0)


def tell(data: TreeData) -> None:
    """Log what had to give way."""
    logger = logging.getLogger("bayesgrove")
    if data.n_unseen:
        logger.info("%d nodes have labels that were not there in fitting", data.n_unseen)
    if data.n_overflowing:
        logger.info("%d nodes stand at positions beyond the largest of fitting", data.n_overflowing)
