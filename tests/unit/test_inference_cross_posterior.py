"""Draws of cross-clusterings: rows of ragged numbers of views, what columns see, export."""

import pickle

import numpy as np
import pytest

from bayesgrove.core.errors import InvalidInputError
from bayesgrove.core.rng import generator
from bayesgrove.inference.cross_posterior import CrossPosterior, cross_posterior
from bayesgrove.stats.partitions import relabel

pytestmark = pytest.mark.unit

N_CHAINS, N_DRAWS, N_COLUMNS, N_ROWS = 2, 5, 6, 7


def chain_draws(rng):
    views = np.array([relabel(rng.integers(0, 3, N_COLUMNS)) for _ in range(N_DRAWS)])
    rows = np.empty(N_DRAWS, object)
    for d in range(N_DRAWS):
        rows[d] = np.array([relabel(rng.integers(0, 4, N_ROWS)) for _ in range(views[d].max() + 1)])
    return {"view_labels": views, "row_labels": rows, "concentrations": rng.random((N_DRAWS, 2))}


@pytest.fixture
def draws():
    rng = generator(3)
    return [chain_draws(rng) for _ in range(N_CHAINS)]


@pytest.fixture
def posterior(draws):
    scalars = {"log_joint": np.arange(10.0).reshape(2, 5)}
    return cross_posterior(draws, scalars, {"model": "CrossCat"})


def test_every_draw_has_the_rows_of_its_views(posterior, draws):
    assert posterior.rows.dtype == np.uint8
    assert posterior.n_rows == N_ROWS
    for c in range(N_CHAINS):
        for d in range(N_DRAWS):
            np.testing.assert_array_equal(posterior.view_labels[c, d], draws[c]["view_labels"][d])
            np.testing.assert_array_equal(posterior.row_labels[c][d], draws[c]["row_labels"][d])
    np.testing.assert_array_equal(posterior.concentrations[1], draws[1]["concentrations"])


def test_similarity_is_the_share_of_draws_with_one_view(posterior):
    labels = posterior.view_labels.reshape(-1, N_COLUMNS)
    expected = np.mean([view[:, None] == view[None] for view in labels], axis=0)
    np.testing.assert_allclose(posterior.similarity(), expected)


def test_of_view_takes_the_view_with_most_of_the_columns(posterior):
    columns = [1, 4, 5]
    found = posterior.of_view(columns)
    for c in range(N_CHAINS):
        for d in range(N_DRAWS):
            counts = np.bincount(posterior.view_labels[c, d, columns])
            np.testing.assert_array_equal(found.labels[c, d], posterior.row_labels[c][d][counts.argmax()])
    np.testing.assert_array_equal(found.scalars["log_joint"], posterior.scalars["log_joint"])
    with pytest.raises(InvalidInputError, match="items lie between 0 and 5"):
        posterior.of_view([6])


def test_subset_thin_and_pickle_keep_the_rows_together(posterior):
    part = posterior.subset(chains=[1], draws=[0, 3])
    assert isinstance(posterior.thin(2), CrossPosterior)
    for at, d in enumerate((0, 3)):
        np.testing.assert_array_equal(part.row_labels[0][at], posterior.row_labels[1][d])
    np.testing.assert_array_equal(part.scalars["log_joint"], [[5.0, 8.0]])
    copy = pickle.loads(pickle.dumps(posterior))
    np.testing.assert_array_equal(copy.rows, posterior.rows)
    np.testing.assert_array_equal(copy.labels, posterior.labels)


def test_export_to_arviz_and_netcdf(posterior, tmp_path):
    xarray = pytest.importorskip("xarray")
    tree = posterior.to_arviz()
    assert tree["posterior"]["view_labels"].dims == ("chain", "draw", "column")
    extra = {"column_numbers": np.zeros((*posterior.labels.shape, 4))}
    learned = CrossPosterior(posterior.labels, {}, extra, rows=posterior.rows).to_arviz()["posterior"]
    assert learned["column_numbers"].dims == ("chain", "draw", "column", "number")
    posterior.to_netcdf(tmp_path / "draws.nc")
    with xarray.open_datatree(tmp_path / "draws.nc", engine="h5netcdf") as stored:
        lines = stored["rows"]
        own = (lines["chain"].values == 1) & (lines["draw"].values == 2)
        np.testing.assert_array_equal(lines["row_labels"].values[own], posterior.row_labels[1][2])
        np.testing.assert_array_equal(lines["view"].values[own], np.arange(own.sum()))


def test_rows_that_do_not_fit_are_refused():
    with pytest.raises(InvalidInputError, match="rows have a line for each view of each draw, 2 in all, got 1"):
        CrossPosterior([[[0, 1]]], rows=[[0, 0]])
    with pytest.raises(InvalidInputError, match=r"rows are integers of the shape \(view, row\)"):
        CrossPosterior([[[0, 0]]], rows=[[0.5, 0.0]])
