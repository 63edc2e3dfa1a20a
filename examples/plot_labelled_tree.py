"""
Labelled tree
=============

One tree that is data, a line per node with its label. Leaves of one label side by side share a line; of large trees
what is near the root is drawn.
"""

# %%
# The syntax tree of a function of the standard library.
import inspect
import textwrap

import matplotlib.pyplot as plt

import bayesgrove as bg

data = bg.TreeData.from_python_source(inspect.getsource(textwrap.dedent))
bg.plot.labelled_tree(data[0], max_nodes=60, title="textwrap.dedent")
plt.show()
