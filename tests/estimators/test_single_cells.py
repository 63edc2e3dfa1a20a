"""Single cells: AnnData objects in and out; tests/recipes has what scanpy and treedata make of them."""

from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from scipy.cluster.hierarchy import is_valid_linkage

import bayesgrove as bg
from bayesgrove.core.errors import InvalidSettingError, InvalidTableError
from bayesgrove.io.cells import is_anndata, rows_of_cells
from bayesgrove.trees import Tree

SIZES = (12, 20, 30)
GREEDY = {"search": "greedy", "likelihood": "gaussian"}


def coordinates():
    rng = np.random.default_rng(0)
    return np.vstack([rng.normal(centre, 1.0, (n, 3)) for centre, n in zip((0.0, 9.0, 30.0), SIZES, strict=True)])


def fake_cells():
    """The parts of an AnnData object that are used."""
    values = coordinates()
    names = pd.Index([f"cell{i}" for i in range(len(values))])
    return SimpleNamespace(
        X=sparse.csr_matrix(values),
        obs=pd.DataFrame(index=names),
        var=pd.DataFrame(index=["g0", "g1", "g2"]),
        obsm={"X_pca": values},
        layers={"scaled": values / 2},
        uns={},
        obs_names=names,
        var_names=pd.Index(["g0", "g1", "g2"]),
    )


@pytest.mark.unit
def test_parts_of_an_anndata_object_are_found():
    cells = fake_cells()
    assert is_anndata(cells)
    assert not is_anndata(cells.obs)
    assert rows_of_cells(cells, "X_pca").names == ("X_pca_0", "X_pca_1", "X_pca_2")
    assert rows_of_cells(cells, None, "scaled").names == ("g0", "g1", "g2")
    assert sparse.issparse(rows_of_cells(cells, "X"))
    with pytest.raises(InvalidSettingError, match="there is no 'X_umap' in obsm, which has: X_pca"):
        rows_of_cells(cells, "X_umap")
    with pytest.raises(InvalidSettingError, match="give use_rep or layer"):
        rows_of_cells(cells, "X_pca", "scaled")
    with pytest.raises(InvalidTableError, match="expected an AnnData object, got DataFrame"):
        rows_of_cells(cells.obs)


@pytest.mark.unit
def test_estimators_take_anndata_objects():
    cells = fake_cells()
    with pytest.raises(InvalidTableError, match="BHC with likelihood='gaussian' does not take sparse matrices"):
        bg.BHC(**GREEDY).fit(cells)
    cells.X = cells.X.toarray()
    model = bg.BHC(**GREEDY).fit(cells)
    assert model.feature_names_in_.tolist() == ["g0", "g1", "g2"]
    assert model.tree_.leaf_labels[0] == "cell0"
    assert model.predict(cells).tolist() == model.labels_.tolist()
    assert bg.cluster(cells, **GREEDY).n_clusters_ == model.n_clusters_


@pytest.mark.unit
def test_clusters_are_written_as_scanpy_has_them():
    cells = fake_cells()
    model = bg.sc.cluster(cells, key_added="bg", **GREEDY)
    assert model.n_clusters_ == 3
    column = cells.obs["bg"]
    assert column.cat.categories.tolist() == ["0", "1", "2"]
    assert column.value_counts(sort=False).tolist() == [30, 20, 12]
    assert cells.obs["bg_certainty"].min() > 0.5
    found = cells.uns["dendrogram_bg"]
    assert is_valid_linkage(found["linkage"])
    assert sorted(found["categories_ordered"]) == ["0", "1", "2"]
    assert [["0", "1", "2"][k] for k in found["categories_idx_ordered"]] == found["categories_ordered"]
    assert found["linkage"][0, :2].tolist() == [1.0, 2.0]  # the two that are near
    assert cells.uns["bg"]["n_clusters"] == 3
    assert Tree.from_newick(cells.uns["bg"]["newick"]).n_leaves == 3


@pytest.mark.unit
def test_nodes_with_many_children_are_merged_pair_after_pair():
    pairs = Tree.from_parents([4, 4, 5, 5, 6, 6, -1])
    assert pairs.cluster_linkage(np.array([0, 0, 1, 1]))[:, [0, 1, 3]].tolist() == [[0.0, 1.0, 2.0]]
    merged = Tree.from_parents([3, 3, 3, -1]).cluster_linkage(np.array([0, 1, 2]))
    assert merged[:, [0, 1, 3]].tolist() == [[0.0, 1.0, 2.0], [3.0, 2.0, 3.0]]
