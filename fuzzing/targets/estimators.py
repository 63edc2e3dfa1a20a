"""Arrays, frames, lists and trees into every estimator, with hostile settings and little work."""

from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
from hypothesis import strategies as st
from hypothesis.strategies import SearchStrategy

import bayesgrove as bg
from bayesgrove.io.tree_data import TreeData
from fuzzing import grammars
from fuzzing.cases import Case, Target
from fuzzing.targets import trees
from fuzzing.targets.values import ODD, decoded, encoded, harmless

CHAINS = {"n_chains": 1, "n_tune": 2, "n_draws": 3, "random_state": 0}
LITTLE: dict[str, dict[str, Any]] = {
    "BHC": {"n_jobs": 1},
    "RandomizedBHC": {"n_jobs": 1, "random_state": 0},
    "IncrementalBHC": {"n_jobs": 1, "random_state": 0},
    "BHCC": {"n_jobs": 1, "n_starts": 1, "random_state": 0},
    "RandomizedBHCC": {"n_jobs": 1, "random_state": 0},
    "NRMMixture": CHAINS,
    "CrossCat": CHAINS,
    "BHMC": CHAINS,
    "RBHMC": CHAINS,
    "TreeHMM": {"n_init": 1, "max_iter": 2, "random_state": 0},
    "TreeHMMMixture": {"n_init": 1, "max_iter": 2, "random_state": 0},
    "InfiniteTreeHMMMixture": {**CHAINS, "n_init": 1, "max_iter": 2},
}
OF_TREES = ("TreeHMM", "TreeHMMMixture", "InfiniteTreeHMMMixture")
FORMS = ("array", "list", "pandas", "polars", "sparse")
WORDS = """auto gaussian bernoulli poisson multinomial categorical gaussian-full exact paper map half nggp nig gibbs
infinite bottom renorm bound tree rms sum chance collapsed binder augmented screen"""
CLUSTERS = [[0.0, 1.0], [0.1, 1.2], [5.0, 6.0], [5.1, 6.2], [0.05, 1.1]]
FOREST = {"labels": [[0, 1, 2], [0, 1], [1]], "parents": [[-1, 0, 0], [-1, 0], [-1]]}


def attempt(case: Case, folder: Path) -> None:
    """Fit, then ask what the data's own rows are."""
    given = decoded(case.content)
    given = given if isinstance(given, dict) else {}
    kind = getattr(bg, case.kind)
    known = kind().get_params(deep=False)
    wanted = given.get("settings")
    settings = {name: value for name, value in (wanted if isinstance(wanted, dict) else {}).items() if name in known}
    model = kind(**harmless({**LITTLE[case.kind], **settings}))
    data = forest(given) if case.kind in OF_TREES else table(given)
    model.fit(data)
    use(model, data)


def use(model: Any, data: Any) -> None:
    """What a fitted model is asked first; the answers have as many rows as the data."""
    n_rows = len(model.labels_) if hasattr(model, "labels_") else len(data)
    if hasattr(model, "labels_") and set(np.unique(model.labels_)) != set(range(model.n_clusters_)):
        raise AssertionError("labels are not 0, 1, ...")
    for question in ("predict", "predict_proba", "score_samples"):
        if hasattr(model, question) and len(getattr(model, question)(data)) != n_rows:
            raise AssertionError(f"{question} has another number of rows")


def table(given: dict[str, Any]) -> Any:
    """The rows in the form that is asked for, or as plain lists where its library refuses them."""
    rows, form = given.get("rows", CLUSTERS), given.get("form", "array")
    try:
        return _in_form(rows, form, given.get("dtype"))
    except Exception:  # numpy, pandas, polars and scipy refuse with errors of their own
        return rows


def _in_form(rows: Any, form: Any, dtype: Any) -> Any:
    if form == "pandas":
        import pandas as pd

        return pd.DataFrame(rows)
    if form == "polars":
        import polars as pl

        return pl.DataFrame(rows, strict=False)
    if form == "sparse":
        from scipy import sparse

        return sparse.csr_array(np.array(rows, dtype=np.float64))
    return np.array(rows, dtype=dtype) if form == "array" else rows


def forest(given: dict[str, Any]) -> TreeData:
    """Trees of the arrays that are given."""
    return TreeData.from_parents(**trees.arguments(encoded({**FOREST, **given})))


def structured(kind: str) -> SearchStrategy[bytes]:
    """Tables or trees of a few rows, and settings of the estimator with odd values."""
    names = sorted(getattr(bg, kind)().get_params(deep=False))
    settings = st.dictionaries(st.sampled_from(names), setting_values(), max_size=2)
    if kind in OF_TREES:
        given = st.builds(lambda forest, chosen: {**forest, "settings": chosen}, trees.parent_arrays(), settings)
        return st.one_of(given, settings.map(lambda chosen: {"settings": chosen})).map(encoded)
    cells = st.one_of(st.integers(0, 3), st.floats(-9, 9), st.floats(), st.none(), grammars.SCALARS)
    whole = st.integers(1, 3).flatmap(lambda d: st.lists(st.lists(cells, min_size=d, max_size=d), max_size=7))
    numbers = st.integers(1, 3).flatmap(
        lambda d: st.lists(st.lists(st.one_of(st.floats(-9, 9), st.integers(0, 3)), min_size=d, max_size=d), max_size=9)
    )
    named = st.dictionaries(grammars.WORDS, st.lists(cells, min_size=4, max_size=4), max_size=3)
    rows = st.one_of(numbers, numbers, whole, named, st.just(CLUSTERS), grammars.documents())
    types = st.sampled_from([None, None, None, "float64", "float32", "int8", "bool", "object", "U3", "complex64"])
    return st.fixed_dictionaries(
        {"rows": rows, "settings": settings}, optional={"form": st.sampled_from(FORMS), "dtype": types}
    ).map(encoded)


def setting_values() -> SearchStrategy[Any]:
    """Odd values, and words that some settings know."""
    return st.one_of(ODD, st.sampled_from(WORDS.split()))


@cache
def seeds(kind: str) -> Sequence[bytes]:
    """Fits that have to succeed."""
    if kind in OF_TREES:
        return [encoded({**FOREST, "settings": {}}), encoded({"labels": [["a", "b"]], "parents": [[-1, 0]]})]
    counts = [[1, 0], [0, 2], [3, 1], [0, 0]]
    names = getattr(bg, kind)().get_params(deep=False)
    found = [{"rows": CLUSTERS, "form": "pandas", "settings": {}}]
    if names["likelihood"] is not None:
        found += [{"rows": counts, "settings": {"likelihood": "poisson"}}]
        found += [{"rows": {"a": ["u", "v", "u"], "b": [1.5, None, 2]}, "form": "polars", "settings": {}}]
    return [encoded(document) for document in found]


TARGET = Target("estimators", tuple(LITTLE), structured, seeds, attempt)
