"""
Similarity
==========

How often each two rows are in one cluster, over all draws of a mixture. Sharp dark squares are clusters the model is
sure of; grey ones are those it sometimes parts or joins.
"""

# %%
# Two short chains of a Dirichlet process mixture on some wines.
import matplotlib.pyplot as plt
from sklearn.datasets import load_wine

import bayesgrove as bg

wines = load_wine(as_frame=True).data[::3]
model = bg.NRMMixture(n_chains=2, n_draws=200, random_state=0).fit(wines)

# %%
# Rows are in the order of the consensus tree of the draws; the strip wears the colours of the clusters.
bg.plot.similarity(model, title="60 wines")
plt.show()
