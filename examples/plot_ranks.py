"""
Ranks
=====

Where each chain's draws stand among those of all chains. A chain that stays too long in one region has too many draws
of some ranks and too few of others; bars within the grey band are what independent draws of one law would show.
"""

# %%
# Two short chains on some wines.
import matplotlib.pyplot as plt
from sklearn.datasets import load_wine

import bayesgrove as bg

wines = load_wine(as_frame=True).data[::3]
model = bg.NRMMixture(n_chains=2, n_draws=200, random_state=0).fit(wines)

# %%
# Draws of neighbouring sweeps are alike, so that a bar outside the band is no proof; many of them are a warning.
bg.plot.ranks(model)
plt.show()
