"""
Embedding
=========

Rows in the plane of their first two principal components, clusters by colour and marker.
"""

# %%
# Every second wine.
import matplotlib.pyplot as plt
from sklearn.datasets import load_wine

import bayesgrove as bg

wines = load_wine(as_frame=True).data[::2]
model = bg.BHC().fit(wines)

# %%
# The plane shows only a part of the variance, as the axes say: clusters that overlap here may be apart in others.
bg.plot.embedding(model)
plt.show()
