"""
Tree with members
=================

The tree down to its clusters, each with what is in it: names, or small pictures.
"""

# %%
# Handwritten digits, clustered by which of their 64 pixels are inked.
import matplotlib.pyplot as plt
from sklearn.datasets import load_digits

import bayesgrove as bg

digits = load_digits()
words = ["zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine"]
images, names = digits.images[:100], [words[digit] for digit in digits.target[:100]]
model = bg.BHC(likelihood="bernoulli").fit(digits.data[:100] > 7)

# %%
# With pictures of the rows, evenly spread along the tree; the model does not know which digit is which.
bg.plot.tree_with_members(model, images=images)
plt.show()

# %%
# With names, shortened where there is no room.
bg.plot.tree_with_members(model, leaf_labels=names, max_members=12)
plt.show()
