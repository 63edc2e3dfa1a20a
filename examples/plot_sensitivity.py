"""
Sensitivity
===========

A number for each pair of strength `C` and margin of the penalty, here the mean number of leaves of the draws, against
that without penalty: the published penalty prunes the tree.
"""

# %%
# Rows drawn from the model itself.
import matplotlib.pyplot as plt
import numpy as np

import bayesgrove as bg

made = bg.datasets.sample_bhmc(30, 3, depth=2, base_variance=9.0, random_state=1)
settings = {"depth": 2, "base_variance": 9.0, "center": True, "n_chains": 1, "n_tune": 50, "n_draws": 100}
plain = bg.BHMC(**settings, random_state=0).fit(made.X)

# %%
# One short chain for each setting.
strengths, margins = [0.01, 0.1, 0.5], [0.1, 1.0]
leaves = np.array(
    [
        [
            bg.RBHMC(C=C, margin=margin, **settings, random_state=0).fit(made.X).result_.details["mean_n_clusters"]
            for margin in margins
        ]
        for C in strengths
    ]
)
reference = plain.result_.details["mean_n_clusters"]
bg.plot.sensitivity(leaves, strengths, margins, name="number of leaves", reference=reference)
plt.show()
