"""
Emissions
=========

Which labels the hidden states of a cluster of trees emit. A state that emits one label stands for it; one that emits
several has found that they are used alike.
"""

# %%
# Small XML documents of two kinds.
import matplotlib.pyplot as plt

import bayesgrove as bg

letters = ["<letter><from/><to/><body>" + n * "<p/>" + "</body></letter>" for n in range(1, 9)]
books = ["<book><title/><author/>" + n * "<chapter><p/><fig/><p/></chapter>" + "</book>" for n in range(1, 9)]
trees = bg.TreeData.from_xml(letters + books)
model = bg.TreeHMMMixture(n_clusters=2, n_states=3, prior_strength=1.1, n_init=5, random_state=0).fit(trees)
bg.plot.emissions(model, cluster=int(model.labels_[-1]), title="cluster of the books")
plt.show()
