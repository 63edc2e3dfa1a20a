"""
Class table
===========

How clusters meet known classes: colours are shares of a class, numbers are counts. Any model with clusters will do.
"""

# %%
# Digits of ten kinds, clustered without knowing which is which.
import matplotlib.pyplot as plt
from sklearn.datasets import load_digits

import bayesgrove as bg

digits = load_digits()
model = bg.BHC(likelihood="gaussian", random_state=0).fit(digits.data[:300])
bg.plot.class_table(model, digits.target[:300])
plt.show()
