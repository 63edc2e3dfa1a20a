"""`model.cut` is the parameter and, called, another cut of the fitted tree."""

import numpy as np
import pytest
from sklearn.base import clone

from bayesgrove import BHC, RandomizedBHC
from bayesgrove.core.errors import InvalidSettingError

pytestmark = pytest.mark.unit


@pytest.mark.parametrize("estimator", [BHC, RandomizedBHC])
def test_cut_is_parameter_and_method(estimator):
    rng = np.random.default_rng(3)
    X = np.vstack([rng.normal(centre, 1.0, (15, 2)) for centre in (0.0, 9.0, 30.0)])
    model = estimator(likelihood="gaussian", cut="map").fit(X)
    assert model.cut == "map"
    assert repr(model.cut) == "'map'"
    assert model.get_params()["cut"] == "map"
    assert type(model.get_params()["cut"]) is str
    np.testing.assert_array_equal(model.cut(n_clusters=2), model.tree_.cut(n_clusters=2))
    np.testing.assert_array_equal(model.cut(probability=0.9), model.tree_.cut(probability=0.9))
    np.testing.assert_array_equal(model.cut("map"), model.labels_)
    np.testing.assert_array_equal(model.cut("half"), model.tree_.cut("half"))
    with pytest.raises(InvalidSettingError, match="a cut by name is"):
        model.cut("strange")
    assert clone(model).cut == "map"
    assert model.set_params(cut=0.9).cut == 0.9
