"""
Data heat map
=============

The table itself, its rows in the order of the tree: clusters show as bands.
"""

# %%
# Wines, of which some measurements have been lost.
import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_wine

import bayesgrove as bg

wines = load_wine(as_frame=True).data[::2]
is_lost = np.random.default_rng(0).random(wines.shape) < 0.03
model = bg.BHC().fit(wines.mask(is_lost))

# %%
# Every column is in standard deviations from its mean; missing cells are yellow.
bg.plot.data_heatmap(model)
plt.show()
