"""
View map
========

How probable it is that two columns share a view. A block with clear edges is a view the model is sure of.
"""

# %%
# Yes/no answers of 60 rows in 20 columns, made of three views.
import matplotlib.pyplot as plt

import bayesgrove as bg

made = bg.datasets.make_cross_table(60, (9, 6, 5), (4, 3, 2), n_trials=1, random_state=2)
model = bg.BHCC(random_state=0).fit(made.X)

# %%
# Columns are in the order of the column tree; the strip wears the colours of the views.
bg.plot.view_map(model)
plt.show()
