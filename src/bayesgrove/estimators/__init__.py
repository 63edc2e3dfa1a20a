"""The scikit-learn facade."""

from bayesgrove.estimators.bhc import BHC
from bayesgrove.estimators.bhcc import BHCC
from bayesgrove.estimators.bhmc import BHMC
from bayesgrove.estimators.crosscat import CrossCat
from bayesgrove.estimators.incremental_bhc import IncrementalBHC
from bayesgrove.estimators.infinite_tree_hmm_mixture import InfiniteTreeHMMMixture
from bayesgrove.estimators.nrm_mixture import NRMMixture
from bayesgrove.estimators.randomized_bhc import RandomizedBHC
from bayesgrove.estimators.randomized_bhcc import RandomizedBHCC
from bayesgrove.estimators.rbhmc import RBHMC
from bayesgrove.estimators.tree_hmm import TreeHMM
from bayesgrove.estimators.tree_hmm_mixture import TreeHMMMixture

__all__ = [
    "BHC",
    "BHCC",
    "BHMC",
    "RBHMC",
    "CrossCat",
    "IncrementalBHC",
    "InfiniteTreeHMMMixture",
    "NRMMixture",
    "RandomizedBHC",
    "RandomizedBHCC",
    "TreeHMM",
    "TreeHMMMixture",
]
