"""
Level tree
==========

A hierarchy of fixed depth, its nodes at their levels, with what is in its leaves: names, or small pictures. Numbers are
the share of draws in which exactly these rows are a node.
"""

# %%
# Handwritten digits, ten of each of four kinds, by their first eight principal components.
import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_digits

import bayesgrove as bg

digits = load_digits()
rows = np.concatenate([np.flatnonzero(digits.target == digit)[:10] for digit in (0, 1, 4, 6)])
words = ["zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine"]
model = bg.BHMC(
    depth=2, n_pca=8, scale=8.0, component_variance=0.5, base_variance=2.0, n_chains=2, n_draws=200, random_state=0
).fit(digits.data[rows])

# %%
# With pictures; the model does not know which digit is which.
bg.plot.level_tree(model, images=digits.images[rows])
plt.show()

# %%
# With names.
bg.plot.level_tree(model, leaf_labels=[words[digit] for digit in digits.target[rows]])
plt.show()
