"""
Views
=====

A table whose columns tell different stories: which columns belong together, and in each such view the hierarchy of the
rows.
"""

# %%
# Counts of 60 rows in 24 columns, made of three views whose columns have been shuffled.
import matplotlib.pyplot as plt

import bayesgrove as bg

made = bg.datasets.make_cross_table(60, (12, 8, 4), (4, 3, 2), n_trials=20, random_state=0)
model = bg.BHCC(random_state=0).fit(made.X)

# %%
# Above the tree of the columns, below it for every view its own tree of the rows. The same row stands at another height
# in every view.
bg.plot.views(model, title="three stories in one table")
plt.show()
