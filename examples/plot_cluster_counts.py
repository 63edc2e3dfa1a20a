"""
Number of clusters
==================

How probable each number of clusters is: for a sampled model its share of the draws, for a tree the probability among
all partitions that the tree allows.
"""

# %%
# Both kinds of model on the same wines.
import matplotlib.pyplot as plt
from sklearn.datasets import load_wine

import bayesgrove as bg

wines = load_wine(as_frame=True).data[::3]
tree = bg.BHC().fit(wines)
mixture = bg.NRMMixture(n_chains=2, n_draws=200, random_state=0).fit(wines)

# %%
# The blue bar is the number of clusters of `labels_`; the bracket holds at least 90 %.
figure, (left, right) = plt.subplots(1, 2, figsize=(9, 3.6), layout="constrained")
bg.plot.cluster_counts(tree, ax=left)
bg.plot.cluster_counts(mixture, ax=right)
plt.show()
