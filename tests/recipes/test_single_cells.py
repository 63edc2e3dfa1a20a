"""The page on single cells, run against scanpy and treedata."""

from pathlib import Path

import numpy as np
import pytest
from scipy.cluster.hierarchy import fcluster

from recipes.pages import run_section

pytestmark = [pytest.mark.slow, pytest.mark.filterwarnings("default")]
MISSING = "{} is not installed here: `make recipes` makes an environment that has it"


@pytest.fixture(scope="module")
def walked(tmp_path_factory):
    """The names that the page leaves behind: the cells with their clusters, drawn and reported."""
    pytest.importorskip("scanpy", reason=MISSING.format("scanpy"))
    import matplotlib

    matplotlib.use("agg")
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(tmp_path_factory.mktemp("cells"))
        names = run_section("single-cells.md", "Cluster and draw", {})
        assert Path("cells.html").read_text(encoding="utf-8").startswith("<!DOCTYPE html>")
    return names


def test_scanpy_draws_the_tree_of_the_clusters(walked, tmp_path):
    adata, model, sc = walked["adata"], walked["model"], walked["sc"]
    assert adata.obs["bayesgrove"].astype(int).tolist() == model.labels_.tolist()
    assert adata.obs["bayesgrove_certainty"].between(0.0, 1.0).all()
    drawn = sc.pl.dotplot(adata, ["CD3D", "CD79A"], groupby="bayesgrove", dendrogram=True, show=False, return_fig=True)
    found = adata.uns["dendrogram_bayesgrove"]
    assert drawn.categories_order == found["categories_ordered"]
    merges = fcluster(found["linkage"], 2, criterion="maxclust")
    halves = model.tree_.cut(n_clusters=2)
    pairs = np.unique(np.column_stack([merges[model.labels_], halves]), axis=0)
    assert len(pairs) == len(
        np.unique(merges)
    )  # its highest merge is that of the tree, which may part a cluster further

    adata.write_h5ad(tmp_path / "cells.h5ad")
    again = sc.read_h5ad(tmp_path / "cells.h5ad")
    assert again.obs["bayesgrove"].tolist() == adata.obs["bayesgrove"].tolist()
    assert again.uns["bayesgrove"]["newick"] == adata.uns["bayesgrove"]["newick"]
    assert np.array_equal(again.uns["dendrogram_bayesgrove"]["linkage"], found["linkage"])


def test_treedata_holds_the_tree_of_all_cells(walked, tmp_path, monkeypatch):
    treedata = pytest.importorskip("treedata", reason=MISSING.format("treedata"))
    monkeypatch.chdir(tmp_path)
    names = run_section("single-cells.md", "The tree of all cells", walked)
    tdata, tree, model = names["tdata"], names["tree"], walked["model"]
    leaves = {node for node, degree in tree.out_degree() if degree == 0}
    assert leaves == set(tdata.obs_names)
    assert tree.number_of_nodes() == model.tree_.n_nodes
    assert all(tree.nodes[below]["depth"] >= tree.nodes[above]["depth"] for above, below in tree.edges)
    for cluster, cells in tdata.obs.groupby("bayesgrove", observed=True):
        inside = tdata[tdata.obs["bayesgrove"] == cluster].obst["bayesgrove"]
        assert {node for node, degree in inside.out_degree() if degree == 0} == set(cells.index)
    again = treedata.read_h5td("cells.h5td")
    assert set(again.obst["bayesgrove"].edges) == set(tree.edges)
    assert again.obst["bayesgrove"].nodes[next(iter(leaves))]["depth"] == tree.nodes[next(iter(leaves))]["depth"]
