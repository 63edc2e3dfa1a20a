"""
Scores by level
===============

How well each level of a hierarchy agrees with known classes: F-measures of the trees that several fits show.
"""

# %%
# Wines of three kinds, by their principal components.
import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_wine
from sklearn.preprocessing import StandardScaler

import bayesgrove as bg

wine = load_wine()
rows = StandardScaler().fit_transform(wine.data)[::4]
classes = wine.target[::4]
settings = {"n_pca": 5, "n_chains": 1, "n_tune": 100, "n_draws": 100}


def f_by_level(kind, **options):
    fits = [kind(**settings, **options, random_state=seed).fit(rows) for seed in range(4)]
    return np.array([bg.metrics.level_f_measure(fit.level_labels_, classes) for fit in fits])


# %%
# Four short fits of each model.
chance = {"penalty": "chance", "margin_scale": "rms", "C": 0.03, "margin": 0.2}
bg.plot.level_scores({"BHMC": f_by_level(bg.BHMC), "RBHMC (chance)": f_by_level(bg.RBHMC, **chance)})
plt.show()
