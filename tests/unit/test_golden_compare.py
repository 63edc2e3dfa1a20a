"""Draws against golden posteriors: right ones agree, wrong ones do not, files are read or refused clearly."""

import copy
import math

import numpy as np
import pytest
from posteriors import files
from posteriors.__main__ import main
from posteriors.codes import all_partitions, canonical, code_of, joint_code, labels_of
from posteriors.compare import compare, lines
from posteriors.draws import Draws, read_draws
from posteriors.quantities import FEATURES, State, describe
from posteriors.series import estimate, features, in_batches, pair_estimate, slowest_time, state_codes

from bayesgrove.core.rng import generator

pytestmark = pytest.mark.unit

KINDS = {
    "dp-bernoulli-7": "labels",
    "bhmc-5-levels-2": "level_1|level_2",
    "views-mixed-4x3": "views|column_0|column_1|column_2",
}
"""A document of each kind of state, and the name of its whole law."""


def independent_draws(name, n_draws=3_000, power=1.0, seed=1):
    """Independent draws of the states of a document, from its law raised to a power."""
    law = files.load(name)["quantities"]["laws"][KINDS[name]]
    weights = np.array(law["probabilities"]) ** power
    chosen = generator(seed).choice(len(weights), (4, n_draws), p=weights / weights.sum())
    states = [[labels_of(part) for part in code.split("|")] for code in law["codes"]]
    names = KINDS[name].split("|")
    tables = [np.array([state[k] for state in states]) for k in range(len(names))]
    return Draws({own: table[chosen] for own, table in zip(names, tables, strict=True)}, {})


@pytest.fixture
def draws():
    return independent_draws("dp-bernoulli-7")


# Agreement


@pytest.mark.parametrize("name", KINDS)
def test_draws_of_the_law_agree(name):
    """False alarms 1e-3 each, by the level of the comparison; fixed seeds."""
    agreement = compare(files.load(name), independent_draws(name))
    assert agreement.agrees, lines(agreement)
    assert agreement.time < 2.0
    assert lines(agreement)[-1] == "agrees"


@pytest.mark.parametrize("name", KINDS)
def test_draws_of_a_tempered_law_do_not_agree(name):
    agreement = compare(files.load(name), independent_draws(name, power=0.85))
    assert not agreement.agrees
    assert lines(agreement)[-1] == "DOES NOT AGREE"


def test_items_in_another_order_do_not_agree(draws):
    turned = Draws({"labels": draws.partitions["labels"][:, :, ::-1]}, {})
    assert not compare(files.load("dp-bernoulli-7"), turned).agrees


def test_states_never_visited_are_found_by_the_law():
    document = copy.deepcopy(files.load("dp-bernoulli-7"))
    document["quantities"]["laws"]["labels"] = {"codes": ["0011223", "0101223"], "probabilities": [0.5, 0.5]}
    labels = np.tile(labels_of("0011223"), (4, 1_000, 1))
    found = compare(document, Draws({"labels": labels}, {})).laws[0]
    assert found.total_variation == 0.5
    assert found.p_value < 1e-9
    assert found.bound < 0.5


def test_stricter_levels_give_wider_limits(draws):
    document = files.load("dp-bernoulli-7")
    assert compare(document, draws, 1e-6).largest_z > compare(document, draws, 1e-2).largest_z


def test_numbers_beside_partitions_are_compared():
    document = files.load("dp-random-concentration-6")
    law = document["quantities"]["laws"]["labels"]
    chosen = generator(3).choice(len(law["codes"]), (4, 2000), p=law["probabilities"])
    labels = np.array([labels_of(code) for code in law["codes"]])[chosen]
    good = generator(4).gamma(document["quantities"]["expectations"]["concentration"]["value"], size=(4, 2000))
    assert compare(document, Draws({"labels": labels}, {"concentration": good})).agrees
    found = compare(document, Draws({"labels": labels}, {"concentration": 1.2 * good}))
    assert found.worst.name == "E[concentration]"
    assert not found.agrees


def test_draws_of_a_chain_that_never_moves_do_not_agree():
    labels = np.tile(np.arange(7), (4, 100, 1))
    assert not compare(files.load("dp-bernoulli-7"), Draws({"labels": labels}, {})).agrees


def test_chains_too_short_for_batches_are_refused(draws):
    short = Draws({"labels": draws.partitions["labels"][:, :5]}, {})
    with pytest.raises(ValueError, match="at least 10 draws, got 5"):
        compare(files.load("dp-bernoulli-7"), short)


# Series


def test_features_are_those_of_the_plain_functions():
    labels = generator(5).integers(0, 4, (2, 30, 6))
    found = features(labels)
    for name, plain in FEATURES.items():
        wanted = [[plain(row) for row in chain.tolist()] for chain in labels]
        np.testing.assert_allclose(found[name], wanted, atol=1e-12)


def test_states_have_their_codes():
    first, second = generator(6).integers(0, 3, (2, 2, 20, 5))
    found = state_codes([first, second])
    for place in np.ndindex(2, 20):
        assert found[place] == joint_code([first[place].tolist(), second[place].tolist()])


def test_means_have_errors_of_batches():
    values = generator(7).normal(size=(4, 4_000))
    found = estimate(values)
    assert found.degrees == 39
    assert found.error == pytest.approx(1.0 / math.sqrt(16_000), rel=0.5)  # 39 degrees: 11 % is one standard error
    assert found.value == pytest.approx(values.mean())
    assert in_batches(values).shape == (40,)


def test_pairs_are_counted():
    labels = np.array([[[0, 0, 1]] * 10 + [[0, 1, 1]] * 30])
    assert pair_estimate(labels).value.tolist() == [0.25, 0.0, 0.75]


def test_slow_chains_are_seen():
    steps = generator(8).normal(size=5_000)
    walk = np.zeros(5_000)
    for i in range(1, 5_000):
        walk[i] = 0.9 * walk[i - 1] + steps[i]
    assert slowest_time([walk[None]]) == pytest.approx(19.0, rel=0.4)
    assert slowest_time([np.zeros((1, 50))]) == 1.0


# Codes and quantities


def test_codes_and_labels():
    assert [code_of(labels) for labels in all_partitions(3)] == ["000", "001", "010", "011", "012"]
    assert labels_of(code_of(range(12))) == tuple(range(12))
    assert canonical("banana") == (0, 1, 2, 1, 2, 1)
    with pytest.raises(ValueError, match="at most 36 blocks, got 37"):
        code_of(range(37))


def test_quantities_of_a_small_law():
    states = [State({"labels": (0, 0, 1)}, 0.25), State({"labels": (0, 1, 2)}, 0.75)]
    found = describe(states, [("labels",)])
    assert found["laws"]["labels"] == {"codes": ["001", "012"], "probabilities": [0.25, 0.75]}
    assert found["counts"]["labels"] == {"values": [2, 3], "probabilities": [0.25, 0.75]}
    assert found["together"]["labels"]["value"] == [[], [0.25], [0.0, 0.0]]
    assert found["expectations"]["labels.n_singletons"]["value"] == 2.5


# Files


def write_csv(path, labels, *, chains=True, blanks=False):
    rows = ["chain,state" if chains else "state"]
    for chain, own in enumerate(labels):
        for row in own:
            state = (" " if blanks else "").join(map(str, row))
            rows.append(f"{chain},{state}" if chains else state)
    path.write_text("\n".join(rows) + "\n", encoding="utf-8")


@pytest.mark.parametrize("blanks", [True, False])
def test_csv_files_are_read(tmp_path, draws, blanks):
    write_csv(tmp_path / "draws.csv", draws.partitions["labels"], blanks=blanks)
    found = read_draws(tmp_path / "draws.csv", files.load("dp-bernoulli-7"))
    np.testing.assert_array_equal(found.partitions["labels"], draws.partitions["labels"])


def test_npz_files_are_read(tmp_path):
    draws = independent_draws("views-mixed-4x3", 100)
    np.savez(tmp_path / "draws.npz", **draws.partitions)
    found = read_draws(tmp_path / "draws.npz", files.load("views-mixed-4x3"))
    for name, labels in draws.partitions.items():
        np.testing.assert_array_equal(found.partitions[name], labels)


def test_one_chain_and_numbers_are_read(tmp_path):
    document = files.load("dp-random-concentration-6")
    np.savez(tmp_path / "draws.npz", labels=np.zeros((50, 6), int), concentration=np.ones(50))
    found = read_draws(tmp_path / "draws.npz", document)
    assert found.shape == (1, 50)
    assert found.scalars["concentration"].shape == (1, 50)
    (tmp_path / "draws.csv").write_text("concentration,state\n0.5,001122\n1.5,000000\n", encoding="utf-8")
    assert read_draws(tmp_path / "draws.csv", document).scalars["concentration"].tolist() == [[0.5, 1.5]]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("labels\n0011223\n", "has a column 'state'"),
        ("state\n", "at least one line"),
        ("state\n00112\n", "has 7 items, the draws have 5"),
        ("state\n0011223|0011223\n", "a state has 1 partitions"),
        ("chain,state\n0,0011223\n0,0011223\n1,0011223\n", r"as many draws, got \[2, 1\]"),
    ],
)
def test_csv_files_that_do_not_fit_are_refused(tmp_path, text, message):
    (tmp_path / "draws.csv").write_text(text, encoding="utf-8")
    with pytest.raises(ValueError, match=message):
        read_draws(tmp_path / "draws.csv", files.load("dp-bernoulli-7"))


def test_npz_files_that_do_not_fit_are_refused(tmp_path):
    np.savez(tmp_path / "draws.npz", level_1=np.zeros((10, 5), int))
    with pytest.raises(ValueError, match="Add level_2"):
        read_draws(tmp_path / "draws.npz", files.load("bhmc-5-levels-2"))


def test_states_beyond_the_law_are_refused():
    labels = np.tile([0, 1, 0, 1, 0], (4, 50, 1))
    with pytest.raises(ValueError, match=r"got '01010\|00000'"):
        compare(files.load("bhmc-5-levels-2"), Draws({"level_1": labels, "level_2": 0 * labels}, {}))


# Commands


def test_the_command_compares(tmp_path, draws, capsys):
    write_csv(tmp_path / "good.csv", draws.partitions["labels"])
    assert main(["compare", "dp-bernoulli-7", str(tmp_path / "good.csv")]) == 0
    assert capsys.readouterr().out.endswith("agrees\n")
    write_csv(tmp_path / "bad.csv", np.zeros((4, 50, 7), int))
    assert main(["compare", "dp-bernoulli-7", str(tmp_path / "bad.csv")]) == 1


def test_the_command_lists_and_checks(capsys):
    assert main(["list"]) == 0
    listed = capsys.readouterr().out.splitlines()
    assert [line.split()[0] for line in listed] == files.names()
    assert main(["check", "trees-4", "nig-gaussian-6"]) == 0
    assert capsys.readouterr().out == "2 documents, 0 faults\n"


def test_the_command_makes(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(files, "DOCUMENTS", tmp_path)
    assert main(["make", "nig-gaussian-6"]) == 0
    assert [path.name for path in tmp_path.iterdir()] == ["nig-gaussian-6.json"]
    assert capsys.readouterr().out.startswith("nig-gaussian-6: ")


@pytest.mark.parametrize("command", [["compare", "nothing", "x.csv"], ["make", "nothing"], ["check", "nothing"]])
def test_unknown_names_are_refused(command, capsys):
    assert main(command) == 2
    assert "nothing" in capsys.readouterr().err


def test_documents_too_large_are_refused(tmp_path, monkeypatch):
    monkeypatch.setattr(files, "DOCUMENTS", tmp_path)
    with pytest.raises(ValueError, match="at most 200000 bytes"):
        files.save({"name": "large", "text": "x" * files.LARGEST})
