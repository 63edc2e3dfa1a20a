"""The fuzzing itself: inputs are the same for a seed, faults of every kind are seen; and a short run of each target."""

import importlib
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
LIGHT = ("tables", "trees", "hierarchies", "likelihoods", "reports")
"""Targets that compile little."""
HEAVY = ("config", "runs", "models", "estimators", "commands")


@pytest.fixture(scope="module", autouse=True)
def root():
    """The fuzzing is beside the package, not in it; its processes look for it too."""
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(str(ROOT))
        patch.setenv("PYTHONPATH", str(ROOT), prepend=":")
        yield


def part(name):
    return importlib.import_module(f"fuzzing.{name}")


def short_run(names, n_inputs, seed):
    """Faults of a run of several targets in one process."""
    runner, draws, targets = part("runner"), part("draws"), part("targets").find_target
    with runner.Runner(tuple(names)) as watched:
        found = {name: runner.tally(watched.run(draws.cases_of(targets(name), n_inputs, seed))) for name in names}
    assert all(each.verdicts.total() == n_inputs for each in found.values())
    return found


@pytest.mark.unit
def test_a_seed_gives_the_same_inputs():
    targets, cases_of = part("targets").find_target, part("draws").cases_of
    first, again, other = (list(cases_of(targets("trees"), 150, seed)) for seed in (1, 1, 2))
    assert first == again
    assert len(set(first) & set(other)) < 60
    assert {case.kind for case in first} == set(targets("trees").kinds)


@pytest.mark.unit
@pytest.mark.parametrize("name", [*LIGHT, *HEAVY])
def test_every_target_is_there(name):
    target = part("targets").find_target(name)
    assert target.name == name
    assert target.kinds


@pytest.mark.unit
def test_cases_are_kept_and_read_back():
    cases = part("cases")
    case = cases.Case("tables", ".csv", b"a\n\xff\r\n")
    assert cases.case_from_bytes(case.to_bytes()) == case
    with pytest.raises(ValueError, match="no kept case"):
        cases.case_from_bytes(b"a\n")


@pytest.mark.unit
def test_faults_of_every_kind_are_seen():
    case = part("cases").Case
    wanted = {
        "fine": ("accepted", ""),
        "refused": ("refused", "InvalidTableError"),
        "error": ("fault", "KeyError at traps.py"),
        "memory": ("fault", "too much memory"),
        "death": ("fault", "the process died with code 9"),
    }
    with part("runner").Runner(("traps",)) as runner:
        for kind, (verdict, reason) in wanted.items():
            outcome = runner.judge(case("traps", kind, b"!"))
            assert (outcome.verdict, outcome.reason.startswith(reason)) == (verdict, True), outcome
        fault = runner.judge(case("traps", "error", b"abcdefgh!ijk"))
        assert part("shrink").shrunk(runner, case("traps", "error", b"abcdefgh!ijk"), fault).content == b"!"


@pytest.mark.slow
def test_what_hangs_is_ended_and_the_next_input_runs():
    case = part("cases").Case
    with part("runner").Runner(("traps",), times_ended=1.0) as runner:
        outcome = runner.judge(case("traps", "hang", b"!"))
        assert (outcome.verdict, outcome.reason) == ("fault", "over 5 s, ended")
        assert runner.judge(case("traps", "fine", b"!")).verdict == "accepted"


@pytest.mark.unit
def test_a_short_run_finds_only_documented_errors():
    found = short_run(LIGHT, 120, seed=3)
    assert [fault for each in found.values() for fault in each.faults] == []
    assert all(each.verdicts["accepted"] >= 5 for each in found.values())  # not all is refused outright


@pytest.mark.slow
@pytest.mark.parametrize("name", HEAVY)
def test_a_longer_run_finds_only_documented_errors(name):
    assert short_run([name], 300, seed=4)[name].faults == []


@pytest.mark.unit
def test_the_command_writes_a_table_and_runs_kept_inputs_again(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    main = part("__main__")
    monkeypatch.setattr(sys, "argv", ["fuzzing", "hierarchies", "--inputs", "30", "--out", "table.csv"])
    assert main.main() == 0
    assert (tmp_path / "table.csv").read_text().startswith("target,inputs,seed,accepted,refused,faults,")
    kept = tmp_path / "kept"
    kept.write_bytes(part("cases").Case("hierarchies", "newick", b"(a,b);").to_bytes())
    monkeypatch.setattr(sys, "argv", ["fuzzing", "--replay", str(kept)])
    assert main.main() == 0
    assert "accepted" in capsys.readouterr().out


def batch_of(part_name, number, estimators=None, **counts):
    return dict.fromkeys(part("soak").FIELDS, 0) | {"part": part_name, "batch": number, "events": 7} | counts


@pytest.mark.unit
def test_the_long_proof_goes_on_where_it_was(tmp_path, monkeypatch):
    soak, table, made = part("soak"), tmp_path / "new" / "soak.csv", []

    def run_batch(*what):
        made.append(what[:2])
        return batch_of(*what)

    monkeypatch.setattr(soak, "run_batch", run_batch)
    assert soak.main(["kills", "--table", str(table), "--events", "15"]) == 0
    table.write_bytes(table.read_bytes() + b"kills,NRMMi")  # killed while it wrote
    assert soak.main(["kills", "runs", "--table", str(table), "--events", "22"]) == 0
    assert made == [("kills", 0), ("kills", 1), ("kills", 2), ("kills", 3), *(("runs", k) for k in range(4))]
    rows = soak.read_table(table)
    assert (soak.n_events(rows, "kills"), soak.n_events(rows, "runs")) == (28, 28)
    monkeypatch.setattr(soak, "run_batch", lambda *what: batch_of(*what, faults=1))
    assert soak.main(["kills", "--table", str(table), "--events", "29"]) == 1


@pytest.mark.unit
def test_a_fault_of_the_long_proof_is_counted_and_told(monkeypatch):
    def run(name, batch, folder, counts):
        counts["events"] += 3
        raise AssertionError(f"{name}, batch {batch}:\n  a draw was lost")

    monkeypatch.setitem(part("soak_parts").PARTS, "kills", (run, ["NRMMixture", "CrossCat"]))
    found = part("soak").run_batch("kills", 3)
    assert (found["estimator"], found["events"], found["faults"]) == ("CrossCat", 3, 1)
    assert found["fault"] == "AssertionError: CrossCat, batch 3: a draw was lost"
    assert part("soak").run_batch("kills", 3, ["NRMMixture"])["estimator"] == "NRMMixture"


@pytest.mark.unit
def test_the_page_shows_the_counts_of_the_long_proof():
    soak, page = part("soak"), (ROOT / "docs" / "fuzzing.md").read_text(encoding="utf-8")
    rows = soak.read_table(soak.TABLE)
    for name, wanted in soak.WANTED.items():
        own = [row for row in rows if row["part"] == name]
        sums = [sum(int(row[field]) for row in own) for field in ("events", "same", "repaired", "refused", "faults")]
        assert f"| `{name}` | {wanted:,} | " + " | ".join(f"{number:,}" for number in sums) + " |" in page
