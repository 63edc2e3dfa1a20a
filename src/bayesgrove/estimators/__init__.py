"""The scikit-learn facade."""

from bayesgrove.estimators.bhc import BHC
from bayesgrove.estimators.bhcc import BHCC
from bayesgrove.estimators.crosscat import CrossCat
from bayesgrove.estimators.incremental_bhc import IncrementalBHC
from bayesgrove.estimators.nrm_mixture import NRMMixture
from bayesgrove.estimators.randomized_bhc import RandomizedBHC
from bayesgrove.estimators.randomized_bhcc import RandomizedBHCC

__all__ = ["BHC", "BHCC", "CrossCat", "IncrementalBHC", "NRMMixture", "RandomizedBHC", "RandomizedBHCC"]
