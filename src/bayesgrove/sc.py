"""Single cells: clusters of an AnnData object, in the form that scanpy draws."""

from typing import Any

import numpy as np
from scipy.cluster.hierarchy import dendrogram

from bayesgrove.core.constants import NULL
from bayesgrove.estimators.cluster_table import cluster as cluster_rows
from bayesgrove.estimators.frames import as_frame
from bayesgrove.io.cells import rows_of_cells
from bayesgrove.trees import Tree

__all__ = ["cluster"]


def cluster(
    adata: Any,
    *,
    use_rep: str | None = "X_pca",
    layer: str | None = None,
    key_added: str = "bayesgrove",
    time_limit: float | None = None,
    random_state: Any = 0,
    **settings: Any,
) -> Any:
    """Cluster the cells of an AnnData object and write what was found into it.

    Parameters
    ----------
    adata : AnnData
        It is changed: see the notes.
    use_rep : str or None, default="X_pca"
        Representation in `adata.obsm` that is clustered; None or "X" takes `adata.X`.
    layer : str, optional
        A layer in place of `adata.X`; give use_rep=None with it.
    key_added : str, default="bayesgrove"
        Name of what is written.
    time_limit : float, optional
        As in `bayesgrove.cluster`.
    random_state : int, default=0
    **settings
        Parameters of the estimator that `bayesgrove.cluster` chooses: `BHC`, or `RandomizedBHC` for many cells.

    Returns
    -------
    model : BHC or RandomizedBHC
        Fitted.

    Notes
    -----
    Written are `adata.obs[key_added]` (categorical: "0" is the largest cluster), `adata.obs[key_added + "_certainty"]`
    (the certainty of each cell's label), `adata.uns["dendrogram_" + key_added]` (the tree of the clusters, for
    `scanpy.pl.dendrogram`, dot plots and heat maps) and `adata.uns[key_added]` (settings, the number of clusters, the
    tree of the clusters in Newick form). A TreeData object also gets the tree of all cells, `adata.obst[key_added]`: a
    graph of networkx whose leaves are the names of the cells. Every node has a `depth` (0 at the root), inner nodes
    also the `probability` that the cells below are one cluster.

    Examples
    --------
    >>> import numpy as np
    >>> import bayesgrove as bg
    >>> rng = np.random.default_rng(0)
    >>> cells = np.vstack([rng.normal(centre, 1, (n, 3)) for centre, n in ((0, 30), (9, 50))])
    >>> try:
    ...     import anndata
    ... except ImportError:
    ...     n_clusters = 2  # anndata is not installed
    ... else:
    ...     adata = anndata.AnnData(np.zeros((80, 1)), obsm={"X_pca": cells})
    ...     n_clusters = bg.sc.cluster(adata).n_clusters_
    >>> n_clusters
    2
    """
    rows = rows_of_cells(adata, use_rep, layer)
    model = cluster_rows(rows, time_limit=time_limit, random_state=random_state, **settings)
    names = [str(k) for k in range(model.n_clusters_)]
    adata.obs[key_added] = categories(model.labels_, names)
    adata.obs[f"{key_added}_certainty"] = model.probabilities_
    linkage = model.tree_.cluster_linkage(model.labels_)
    adata.uns[key_added] = {
        "params": {"use_rep": use_rep or "X", "layer": layer or "", "model": type(model).__name__},
        "n_clusters": model.n_clusters_,
        "newick": newick(linkage, names),
    }
    adata.uns[f"dendrogram_{key_added}"] = scanpy_dendrogram(linkage, names, key_added, use_rep or "X")
    if hasattr(adata, "obst"):
        adata.obst[key_added] = graph_of_cells(model.tree_, adata.obs_names.tolist(), key_added)
    return model


def categories(labels: np.ndarray, names: list[str]) -> Any:
    """Labels as a categorical column of pandas, which every AnnData object brings along."""
    column = as_frame({"cluster": [names[label] for label in labels]})["cluster"].astype("category")
    return column.cat.set_categories(names).array


def scanpy_dendrogram(linkage: np.ndarray, names: list[str], key: str, use_rep: str) -> dict[str, Any]:
    """The tree of the clusters as `scanpy.tl.dendrogram` stores it."""
    if len(names) > 1:
        info = dendrogram(linkage, labels=names, no_plot=True)
    else:
        info = {"icoord": [], "dcoord": [], "ivl": names, "leaves": [0], "color_list": [], "leaves_color_list": ["C0"]}
    return {
        "linkage": linkage,
        "groupby": [key],
        "use_rep": use_rep,
        "cor_method": "none",
        "linkage_method": "bayesgrove",
        "categories_ordered": info["ivl"],
        "categories_idx_ordered": info["leaves"],
        "dendrogram_info": info,
        "correlation_matrix": np.eye(len(names)),
    }


def graph_of_cells(tree: Tree, cells: list[str], key: str) -> Any:
    """The tree of all cells as `treedata` holds it."""
    import networkx  # a dependency of treedata

    names = [f"{key}:{node}" if item == NULL else cells[item] for node, item in enumerate(tree.item.tolist())]
    depths = (tree.height[tree.root] - tree.height).tolist()
    probabilities = tree.nodes["probability"].tolist()
    graph = networkx.DiGraph()
    for node, name in enumerate(names):
        extra = {} if tree.item[node] != NULL else {"probability": probabilities[node]}
        graph.add_node(name, depth=depths[node], **extra)
    graph.add_edges_from((names[above], names[node]) for node, above in enumerate(tree.parent[:-1].tolist()))
    return graph


def newick(linkage: np.ndarray, names: list[str]) -> str:
    """The tree of the clusters, branch lengths from the heights of merges."""
    parts = [(f"cluster{name}", 0.0) for name in names]
    for a, b, height, _ in linkage:
        sides = (parts[int(a)], parts[int(b)])
        parts.append((f"({','.join(f'{text}:{height - low:.6g}' for text, low in sides)})", height))
    return f"{parts[-1][0]};"
