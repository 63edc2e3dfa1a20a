"""
Score traces
============

The log complete-data likelihood of each draw of a regularised hierarchy, plain (CDL, pale) and less the penalty (RCDL).
Chains should rise to one plateau.
"""

# %%
# Rows drawn from the model itself.
import matplotlib.pyplot as plt

import bayesgrove as bg

made = bg.datasets.sample_bhmc(40, 3, depth=2, base_variance=9.0, random_state=1)
model = bg.RBHMC(depth=2, base_variance=9.0, C=0.02, center=True, n_chains=2, n_tune=0, n_draws=200, random_state=0)
model.fit(made.X)

# %%
# Without burn-in, to see the chains rise.
bg.plot.score_traces(model)
plt.show()
