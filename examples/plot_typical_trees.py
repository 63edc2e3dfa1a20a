"""
Typical trees
=============

Clusters of trees, each shown by its most typical tree: the one nearest to the cluster's mean, by how often labels stand
at positions.
"""

# %%
# Modules of the standard library as syntax trees: tables of character sets, other codecs, packages of several kinds.
# The variational fit alone takes a second; draws by Markov chains, the default, take longer.
import encodings
from pathlib import Path

import matplotlib.pyplot as plt

import bayesgrove as bg

library = Path(encodings.__file__).parent.parent
folders = ("encodings", "json", "xml/dom", "importlib", "concurrent/futures", "wsgiref")
files = [path for folder in folders for path in sorted((library / folder).glob("*.py"))[::2]]
trees = bg.read_trees([path for path in files if 100 < path.stat().st_size < 15_000], max_children=24)
model = bg.InfiniteTreeHMMMixture(n_states=4, method="vb", n_init=1, max_iter=20, random_state=0).fit(trees)
print(model.n_clusters_, "clusters of", len(trees), "modules")

# %%
# The largest clusters, and what sets them apart.
for telling in model.telling_labels(most=2):
    print(f"cluster {telling.cluster}: {telling.name} {telling.share:.1%}, elsewhere {telling.elsewhere:.1%}")
bg.plot.typical_trees(model, max_nodes=45)
plt.show()
