"""The scikit-learn facade."""

from bayesgrove.estimators.bhc import BHC
from bayesgrove.estimators.incremental_bhc import IncrementalBHC
from bayesgrove.estimators.nrm_mixture import NRMMixture
from bayesgrove.estimators.randomized_bhc import RandomizedBHC

__all__ = ["BHC", "IncrementalBHC", "NRMMixture", "RandomizedBHC"]
