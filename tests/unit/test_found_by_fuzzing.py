"""Inputs that `python -m fuzzing` found to end in an undocumented error, each now refused by its rule."""

import json
import math

import numpy as np
import pandas as pd
import pytest

from bayesgrove import BHC, BHMC, RBHMC, NRMMixture, TreeHMM, TreeHMMMixture, load
from bayesgrove.cli.main import main
from bayesgrove.core.errors import (
    InvalidFileError,
    InvalidLikelihoodError,
    InvalidSettingError,
    InvalidTableError,
    InvalidTreeError,
    MemoryLimitError,
)
from bayesgrove.core.table import table_from_array
from bayesgrove.inference.folder import NAME, read_run, write_run, writing
from bayesgrove.inference.status import run_status
from bayesgrove.io.arrays import array_from_npy
from bayesgrove.io.blocks import is_block_source
from bayesgrove.io.frames import table_from_frame
from bayesgrove.io.model_file import read_model, write_model
from bayesgrove.io.tables import read_table
from bayesgrove.io.tree_data import TreeData
from bayesgrove.likelihoods import (
    Binomial,
    Categorical,
    GaussianDiagonal,
    GaussianFull,
    Multinomial,
    Poisson,
    from_document,
    log_marginal,
    to_document,
)
from bayesgrove.likelihoods.bind import bind
from bayesgrove.report.live import PageServer
from bayesgrove.report.page import page_html
from bayesgrove.trees import Tree

pytestmark = pytest.mark.unit


@pytest.mark.parametrize(
    ("merges", "message"),
    [
        ([[0]], r"shape \(n, 2\), got shape \(1, 1\)"),
        ([0, 1], r"got shape \(2,\)"),
        ([[0, 1], [2]], "arrays of numbers"),
        ([[0, 10**30]], "whole numbers"),
        ([[0, None]], "whole numbers"),
        ([[0, 1.5]], "whole numbers"),
        ([[0, math.nan]], "whole numbers"),
        ([[0, math.inf]], "whole numbers"),
    ],
)
def test_merges_are_pairs_of_ids(merges, message):
    with pytest.raises(InvalidTreeError, match=message):
        Tree.from_merges(merges)


def test_merges_may_be_whole_floats():
    assert Tree.from_merges([[0.0, 1.0], [2.0, 3.0]]).n_leaves == 3


def test_odds_of_unequal_lengths_are_refused():
    with pytest.raises(InvalidTreeError, match="arrays of numbers"):
        Tree.from_merges([[0, 1]], log_merge_odds=[[1.0], [1.0, 2.0]])


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"labels": 1, "parents": [[-1]]}, "one array per tree"),
        ({"labels": [False], "parents": [[-1]]}, "one array per tree"),
        ({"labels": [["a"], 1], "parents": [[-1], [-1]]}, "one array per tree"),
        ({"labels": [[0]], "parents": [8]}, "one array per tree"),
        ({"labels": [[0]], "parents": [[-1]], "positions": 5}, "one array per tree"),
        ({"labels": [[0]], "parents": None}, "one array per tree"),
        ({"labels": None, "parents": [[-1]]}, "one array per tree"),
        ({"labels": [[0, 1]], "parents": [[-1, []]]}, "tree 0: parents have one entry per node"),
        ({"labels": [[0, [1]]], "parents": [[-1, 0]]}, "tree 0: labels have one entry per node"),
        ({"labels": [[0, 1]], "parents": [[[-1], [0]]]}, r"one number per node, got shape \(2, 1\)"),
        ({"labels": [[0.5], [[0.5, 1.0]]], "parents": [[-1], [-1]]}, "equally many numbers"),
        ({"labels": [[0]], "parents": [[-1]], "vocabulary": math.nan}, "a list of texts, got nan"),
        ({"labels": [[0]], "parents": [[-1]], "vocabulary": ["", []]}, "a list of texts"),
        ({"labels": [[0]], "parents": [[-1]], "max_outdegree": "x"}, "max_outdegree is a whole number"),
        ({"labels": [[0]], "parents": [[-1]], "n_labels": math.nan}, "n_labels is a whole number"),
        ({"labels": [[0, 1]], "parents": [[-1, 0]], "internal": [[[1], [1, 0]]]}, "one truth value per node"),
    ],
)
def test_trees_are_lists_of_arrays(arguments, message):
    with pytest.raises(InvalidTreeError, match=message):
        TreeData.from_parents(**arguments)


def test_no_trees_may_have_flags():
    assert len(TreeData.from_parents([], [], internal=[])) == 0


@pytest.mark.parametrize("code", [6e15, 2.0**20])
def test_categories_have_no_boundless_codes(code):
    with pytest.raises(InvalidTableError, match=r"at most 1,048,576 categories.*without gaps"):
        log_marginal(Categorical(), [[0.0], [code]])


@pytest.mark.parametrize("likelihood", [Categorical(), "poisson", "multinomial", "binomial"])
def test_counts_are_numbers_that_can_be_told_apart(likelihood):
    with pytest.raises(InvalidTableError, match=r"must be at most 2\*\*53.*row 1, column 'x0' holds 1e\+308"):
        log_marginal(likelihood, [[0.0, 1.0], [1e308, 1.0]])


def test_rows_of_unequal_lengths_are_named():
    with pytest.raises(InvalidTableError, match="rows of a table have equal lengths"):
        table_from_array([[1.0, 2.0], [3.0]])


def test_integers_beyond_floats_are_refused():
    with pytest.raises(InvalidTableError, match="holds numbers"):
        table_from_array(np.array([[10**400]], dtype=object))


def test_documents_with_huge_numbers_are_refused():
    document = json.loads(json.dumps(to_document(bind("bernoulli", [[0.0], [1.0]]))))
    document["encoding"]["fields"]["exponent"]["data"] = [10**30]
    with pytest.raises(InvalidFileError, match="no description of a likelihood"):
        from_document(document)


def test_a_title_may_hold_half_a_character():
    assert b"<title>a" in page_html({"title": "a\ud800"}).encode("utf-8")


RUN = {"n_chains": 1, "n_draws": 3, "seed": 0, "model": "M", "schedule": {}}


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"n_chains": 10**30}, "n_chains is 1000"),
        ({"n_chains": None}, "n_chains is None"),
        ({"n_draws": -1}, "n_draws is -1"),
        ({"seed": "x"}, "seed is 'x'"),
        ({"model": 1}, "names no model"),
        ({"about": 3}, "are objects"),
        ({"about": {"settings": 3}}, "are objects"),
        ({"schedule": {"tune": [], "draw": [["a", 1, {}, 4]]}}, "its schedule is none"),
    ],
)
def test_notes_of_runs_are_checked_behind_their_checksum(tmp_path, change, message):
    write_run(tmp_path, {**RUN, **change})
    with pytest.raises(InvalidFileError, match=message):
        run_status(tmp_path)


def test_notes_of_runs_hold_no_nan(tmp_path):
    write_run(tmp_path, RUN)
    path = tmp_path / NAME
    path.write_text(path.read_text().replace('"n_draws": 3', '"n_draws": NaN'))
    with pytest.raises(InvalidFileError, match="checksum"):
        read_run(tmp_path)


@pytest.mark.parametrize(("field", "value"), [("header", 0.5), ("index", 3), ("options", [])])
def test_requests_say_how_data_were_read(tmp_path, capsys, field, value):
    run = tmp_path / "run"
    run.mkdir()
    request = {"model": "nrm-mixture", "data": "data.csv", "settings": {}, "index": None, "header": None}
    (run / "request.json").write_text(json.dumps({**request, field: value}))
    assert main(["resume", str(run)]) == 2
    assert f"the run's {field} is damaged" in capsys.readouterr().err


@pytest.fixture(scope="module")
def saved(tmp_path_factory):
    """A small model, saved."""
    path = tmp_path_factory.mktemp("model") / "model.bg"
    BHC(likelihood="gaussian").fit([[0.0], [0.1], [5.0]]).save(path)
    return read_model(path)


@pytest.mark.parametrize("change", [{"provenance": {"settings": "x"}}, {"provenance": []}, {"details": None}])
def test_model_files_say_where_they_come_from(tmp_path, saved, change):
    write_model(tmp_path / "model.bg", saved.kind, {**saved.document, **change}, saved.arrays)
    with pytest.raises(InvalidFileError, match="provenance, its settings and details are objects"):
        load(tmp_path / "model.bg")


@pytest.mark.parametrize(("name", "value"), [("C", None), ("C", "auto"), ("margin", "auto"), ("penalty", "none")])
def test_penalties_of_model_files_are_checked(name, value):
    model = RBHMC(**{name: value})
    with pytest.raises(InvalidSettingError, match=f"^{name} must be"):
        model._restore_numbers({"margin_norm": 1.0, "discriminant_scale": 1.0})


@pytest.mark.parametrize("estimator", [TreeHMM, TreeHMMMixture])
@pytest.mark.parametrize(
    ("settings", "error", "message"),
    [
        ({"tol": None}, InvalidSettingError, "tol is a number that is not negative, got None"),
        ({"tol": ""}, InvalidSettingError, "tol is a number"),
        ({"n_init": "1"}, InvalidSettingError, "n_init must be a whole number"),
        ({"max_iter": 2.5}, InvalidSettingError, "max_iter must be a whole number"),
        ({"n_states": 2**31}, MemoryLimitError, "GiB, more than 2. Take fewer"),
        ({"prior_strength": 10**400}, InvalidSettingError, "prior_strength must be at most"),
    ],
)
def test_settings_of_tree_models(estimator, settings, error, message):
    with pytest.raises(error, match=message):
        estimator(**settings).fit(TreeData.from_newick("(a,b)c;"))


def test_a_folder_of_chains_is_a_path(tmp_path):
    rows = [[0.0], [1.0], [2.0]]
    with pytest.raises(InvalidSettingError, match="run_dir must be None or the path of a folder, got 0"):
        NRMMixture(run_dir=0).fit(rows)
    with pytest.raises(InvalidFileError, match="cannot make the folder"), writing(tmp_path / "a\0b", resume=False):
        pass


def test_numbers_of_hierarchies_are_finite():
    with pytest.raises(InvalidSettingError, match="alpha must be finite, got inf"):
        BHMC(alpha=math.inf).fit([[0.0], [1.0]])
    BHMC(alpha=10**30)._check_settings()


@pytest.mark.parametrize("words", [["predict"], ["status"], ["report", "-o", "x"], ["resume"]])
def test_names_too_long_for_the_system_are_no_runs(words, capsys):
    long = "x" * 300
    command, *options = words
    data = ["data.csv"] if command == "predict" else []
    assert main([command, long, *data, *options]) == 2
    assert "internal error" not in capsys.readouterr().err


@pytest.mark.parametrize("value", [None, 0.5, "x", [2]])
def test_summaries_tell_a_number_of_clusters(tmp_path, capsys, value):
    (tmp_path / "summary.json").write_text(json.dumps({"columns": [], "n_clusters": value}))
    assert main(["status", str(tmp_path)]) == 2
    assert "n_clusters is" in capsys.readouterr().err


@pytest.mark.parametrize("shape", [(0, 10**20), (10**10, 0, 10**10)])
def test_an_empty_array_of_impossible_size_is_damaged(shape):
    header = f"{{'descr': '<f8', 'fortran_order': False, 'shape': {shape}, }}".encode().ljust(117) + b"\n"
    with pytest.raises(InvalidFileError, match="impossible shape"):
        array_from_npy(b"\x93NUMPY\x01\x00" + len(header).to_bytes(2, "little") + header, "it")


@pytest.mark.parametrize("output", ["", ".", "/"])
def test_an_output_without_a_name_is_refused(output, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    assert main(["impute", "run", "-o", output, "--level", "0.9", "--force"]) == 2
    assert "internal error" not in capsys.readouterr().err


def test_a_request_names_a_model(tmp_path, capsys):
    (tmp_path / "request.json").write_text(json.dumps({"model": [], "data": "d.csv", "settings": {}}))
    assert main(["resume", str(tmp_path)]) == 2
    assert "MODEL is one of" in capsys.readouterr().err


def test_numbers_beyond_64_bits_in_frames():
    pl = pytest.importorskip("polars")
    wide = pl.DataFrame({"a": pl.Series([10**9, 1, None], dtype=pl.Int128), "b": [0.0, 1.0, 2.0]})
    assert BHC().fit(wide).labels_.shape == (3,)
    for large in (pl.DataFrame({"a": [10**20, 1, None]}), pd.DataFrame({"a": [10**400, 1]})):
        with pytest.raises(InvalidTableError, match="integers beyond 2\\*\\*53, which would be rounded"):
            table_from_frame(large)
    with pytest.raises(InvalidTableError, match="beyond what a float can be"):
        table_from_frame(pd.DataFrame({"a": [10**400, 0.5]}))


def test_labels_of_a_model_file_need_no_memory_for_their_gaps(tmp_path):
    path = tmp_path / "model.bg"
    BHC().fit([[0.0], [1.0], [9.0]]).save(path)
    file = read_model(path)
    write_model(path, file.kind, file.document, {**file.arrays, "labels": np.array([0, 2**40, 1])})
    with pytest.raises(InvalidFileError, match="labels are not 0, 1"):
        load(path)


@pytest.mark.parametrize(
    ("likelihood", "message"),
    [
        (Binomial(n_trials=1e20), r"n_trials must be at most 2\*\*53"),
        (GaussianDiagonal(shape=1e308), r"shape must be between 1e-100 and 1e\+100, got 1e\+308"),
        (Poisson(rate=[1.0, 1e-308]), "rate must be between 1e-100 and"),
        (Multinomial(pseudo_count=1e308), "pseudo_count must be between"),
        (GaussianFull(scale=""), "scale must be a number or a symmetric matrix"),
        (GaussianFull(scale=[[1.0], [1.0, 2.0]]), "scale must be a number or a symmetric matrix"),
    ],
)
def test_numbers_of_likelihoods_that_no_cell_can_bear(likelihood, message):
    with pytest.raises(InvalidLikelihoodError, match=message):
        log_marginal(likelihood, [[1.0, 0.0], [0.0, 1.0]])


def test_a_name_in_an_archive_that_is_no_text(tmp_path):
    path = tmp_path / "table.npz"
    np.savez(path, **{"é": np.eye(2)})
    content = path.read_bytes()
    path.write_bytes(content.replace("é".encode(), b"\x9b\x9b", 1))
    with pytest.raises(InvalidFileError, match=r"is damaged or not a \.npz file"):
        read_table(path)


def test_half_a_character_is_no_host():
    with pytest.raises(InvalidSettingError, match=r"cannot listen on \\udad9:0"):
        PageServer(None, "page", host="\udad9")


def test_lists_of_unequal_lengths_are_no_blocks():
    assert not is_block_source([[[1.0], [1.0, 2.0]], [[1.0, 2.0]]])
    assert is_block_source([[[1.0, 2.0]], [[3.0, 4.0]]])
