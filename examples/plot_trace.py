"""
Trace
=====

The value of a label-free number at every draw, one line per chain. Chains that have converged lie on top of each other
and wander around one level; r_hat above 1.01 says that they do not.
"""

# %%
# Two short chains on some wines.
import matplotlib.pyplot as plt
from sklearn.datasets import load_wine

import bayesgrove as bg

wines = load_wine(as_frame=True).data[::3]
model = bg.NRMMixture(n_chains=2, n_draws=200, random_state=0).fit(wines)

# %%
# The log joint density, and the number of clusters.
figure, (top, bottom) = plt.subplots(2, 1, figsize=(7, 6), layout="constrained")
bg.plot.trace(model, ax=top)
bg.plot.trace(model, ax=bottom, scalar="n_clusters")
plt.show()
