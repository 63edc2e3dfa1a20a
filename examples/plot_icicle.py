"""
Icicle
======

The tree as nested blocks, each as wide as its number of rows, where a dendrogram gives every branch the same room.
"""

# %%
# A tree of irises.
import matplotlib.pyplot as plt
from sklearn.datasets import load_iris

import bayesgrove as bg

model = bg.BHC(likelihood="gaussian").fit(load_iris().data[::2])

# %%
# On top the clusters of the fit, below the probability that the rows of a block are one cluster.
figure, (top, bottom) = plt.subplots(2, 1, figsize=(8, 7), layout="constrained")
bg.plot.icicle(model, ax=top)
bg.plot.icicle(model, ax=bottom, colour="probability")
plt.show()
