"""Imputers against scikit-learn's IterativeImputer: five masks that hide 10 % of the cells of each table.

The masks are those of seeds 0 to 4. Errors are in units of each column's standard deviation. The other imputer sees
standardised columns; of its two codings of categories, indicator variables and ranks, the better one counts.
"""

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_wine
from sklearn.experimental import enable_iterative_imputer  # noqa: F401
from sklearn.impute import IterativeImputer

from bayesgrove.impute import BHCCImputer, CrossCatImputer
from conftest import find_shared_file

pytestmark = [
    pytest.mark.statistical,
    pytest.mark.slow,
    pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning"),
]
N_MASKS = 5


def table_of(name):
    """Penguins, cars without their names, or wines."""
    if name == "wine":
        return load_wine(as_frame=True).data
    table = pd.read_csv(find_shared_file(f"data/tables/{name}.csv"))
    return table.drop(columns="name") if name == "mpg" else table


def is_number(table):
    return np.array([pd.api.types.is_numeric_dtype(table[name]) for name in table])


def by_indicators(labels):
    """A column of zeros and ones for each label, and how to go back."""
    known = sorted(labels.dropna().unique())
    coded = np.column_stack([np.where(labels.isna(), np.nan, labels == label) for label in known])
    return coded, lambda filled: np.array(known)[filled.argmax(axis=1)]


def by_ranks(labels):
    """One column of ranks, and how to go back."""
    known = sorted(labels.dropna().unique())
    coded = labels.map({label: rank for rank, label in enumerate(known)}).to_numpy(float)[:, np.newaxis]
    return coded, lambda filled: np.array(known)[np.clip(filled[:, 0].round().astype(int), 0, len(known) - 1)]


def filled_by_peer(gaps, code):
    numbers = gaps.loc[:, is_number(gaps)]
    mean, scale = numbers.mean(), numbers.std()
    coded = {name: code(gaps[name]) for name in gaps if name not in numbers}
    blocks = [((numbers - mean) / scale).to_numpy(), *(columns for columns, _ in coded.values())]
    ends = np.cumsum([block.shape[1] for block in blocks])
    found = np.split(IterativeImputer(random_state=0, max_iter=30).fit_transform(np.hstack(blocks)), ends[:-1], axis=1)
    filled = pd.DataFrame(found[0] * scale.to_numpy() + mean.to_numpy(), gaps.index, numbers.columns)
    for (name, (_, decode)), columns in zip(coded.items(), found[1:], strict=True):
        filled[name] = decode(columns)
    return filled[gaps.columns]


def scored(table, hidden, filled):
    """Root mean squared error of hidden numbers, and whether each hidden label was found."""
    numeric = is_number(table)
    scale = table.loc[:, numeric].std().to_numpy()
    away = (filled.loc[:, numeric].to_numpy(float) - table.loc[:, numeric].to_numpy(float)) / scale
    right = filled.loc[:, ~numeric].astype(object).to_numpy() == table.loc[:, ~numeric].to_numpy()
    return np.sqrt(np.mean(away[hidden[:, numeric]] ** 2)), right[hidden[:, ~numeric]].tolist()


@pytest.mark.parametrize("imputer", [BHCCImputer, CrossCatImputer])
@pytest.mark.parametrize("name", ["penguins", "mpg", "wine"])
def test_no_worse_than_the_iterative_imputer(imputer, name, record_property):
    """Means over the masks; 90 % intervals hold 87 to 93 % of the hidden numbers."""
    table = table_of(name)
    numeric = is_number(table)
    errors, labels, covered = {}, {}, []
    for seed in range(N_MASKS):
        hidden = (np.random.default_rng(1000 + seed).random(table.shape) < 0.1) & table.notna().to_numpy()
        gaps = table.mask(hidden)
        own = imputer(random_state=seed)
        completed = own.fit_transform(gaps)
        found = own.intervals(level=0.9)
        asked = hidden[found.rows, found.columns] & numeric[found.columns]
        truth = table.to_numpy(object)[found.rows[asked], found.columns[asked]].astype(float)
        covered += ((found.low[asked] <= truth) & (truth <= found.high[asked])).tolist()
        tables = {
            "own": completed,
            **{c.__name__: filled_by_peer(gaps, c) for c in (by_indicators, by_ranks)},
        }
        for who, filled in tables.items():
            error, right = scored(table, hidden, filled)
            errors.setdefault(who, []).append(error)
            labels.setdefault(who, []).extend(right)
    means = {who: np.mean(each) for who, each in errors.items()}
    shares = {who: np.mean(each) if each else 1.0 for who, each in labels.items()}
    record_property("figures", (means, shares, np.mean(covered)))
    assert means["own"] <= min(means["by_indicators"], means["by_ranks"])
    assert shares["own"] >= max(shares["by_indicators"], shares["by_ranks"])
    assert 0.87 <= np.mean(covered) <= 0.93
