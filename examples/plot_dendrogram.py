"""
Dendrogram
==========

The tree of a fit with the probability of its merges. Colours are the clusters of the fit; branches above them are grey.
"""

# %%
# Some flowers of the iris data, clustered without saying how many clusters there are.
import matplotlib.pyplot as plt
from sklearn.datasets import load_iris

import bayesgrove as bg

iris = load_iris(as_frame=True)
model = bg.BHC(likelihood="gaussian").fit(iris.data[::2])

# %%
# The height of a merge is minus its log odds, by asinh: 0 is probability 1/2. Numbers at the nodes are probabilities
# that all flowers below are one cluster; triangles stand for branches that are not drawn further.
bg.plot.dendrogram(model, title="75 irises")
plt.show()
