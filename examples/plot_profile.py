"""
Cluster profile
===============

What sets clusters apart: the means of the most telling features in each cluster with 95 % intervals.
"""

# %%
# Wines are described by chemical measurements in different units.
import matplotlib.pyplot as plt
from sklearn.datasets import load_digits, load_wine

import bayesgrove as bg

wines = load_wine(as_frame=True).data[::2]
model = bg.BHC().fit(wines)

# %%
# All features share one axis: differences from the mean of all rows, in standard deviations. The intervals take the
# clusters as given.
bg.plot.profile(model, max_features=8)
plt.show()

# %%
# A table of yes/no columns has rates in percent: is a pixel of a small picture inked?
digits = load_digits()
is_inked = digits.data[:80] > 7
model = bg.BHC(likelihood="bernoulli").fit(is_inked)
bg.plot.profile(model, clusters=range(min(4, model.n_clusters_)))
plt.show()
