"""
Prior of the number of clusters
===============================

What a prior over partitions says about the number of clusters before any data are seen.
"""

# %%
# A Dirichlet process expects the number to grow with the number of rows; a mixture of finite mixtures does not.
import matplotlib.pyplot as plt

import bayesgrove as bg

figure, (left, right) = plt.subplots(1, 2, figsize=(9, 3.6), layout="constrained")
bg.plot.prior_counts(bg.prior_clusters("dp", 200, concentration=1.0), ax=left)
bg.plot.prior_counts(bg.prior_clusters("mfm", 200, concentration=1.0, components="poisson"), ax=right)
plt.show()
