"""Run folders that are in use, full, read-only, half-written, damaged, newer or another run's: an error, no loss."""

import dataclasses
import errno
import json
import os
import random
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import bayesgrove
from bayesgrove.core.errors import BayesgroveError, InvalidFileError, InvalidSettingError, RunStoppedError
from bayesgrove.inference import folder as folders
from bayesgrove.inference import store
from bayesgrove.inference.repair import known_seed
from bayesgrove.inference.run import RunSettings, run_chains
from bayesgrove.inference.schedule import Schedule
from bayesgrove.inference.status import read_chains, run_status
from bayesgrove.io import record_log
from reference.toy_sampler import SCHEDULE, ToySampler, digest

pytestmark = pytest.mark.unit

SETTINGS = RunSettings(n_chains=2, n_draws=10, seed=3, n_jobs=1)


def run(folder, sampler=ToySampler(), schedule=SCHEDULE, **changes):  # noqa: B008
    return run_chains(sampler, schedule, dataclasses.replace(SETTINGS, run_dir=folder, **changes))


def contents(folder: Path) -> dict[str, bytes]:
    """All files but locks, which only say who has written."""
    return {path.name: path.read_bytes() for path in folder.iterdir() if path.suffix != ".lock"}


@pytest.fixture
def folder(tmp_path):
    run(tmp_path / "run")
    return tmp_path / "run"


def refused(folder, error, match, **changes):
    """Resuming raises and leaves all as it was."""
    before = contents(folder)
    with pytest.raises(error, match=match):
        run(folder, **{"resume": True, **changes})
    assert contents(folder) == before


def test_a_run_is_not_overwritten(folder):
    refused(folder, InvalidFileError, r"holds a run already\. Give resume=True to continue it, or", resume=False)
    (folder / "run.json").unlink()
    refused(folder, InvalidFileError, "holds a run already", resume=False)


@pytest.mark.parametrize(
    ("changes", "difference"),
    [
        (
            {"sampler": ToySampler(values=(1.0, 2.0))},
            r"fingerprint\.data\.rows is 6 there and 2 here; fingerprint\.data",
        ),
        ({"sampler": ToySampler(concentration=2.0)}, r"fingerprint\.prior is 0\.7 there and 2\.0 here"),
        ({"schedule": Schedule(SCHEDULE.tune, SCHEDULE.draw, 16, 2, 7)}, r"schedule\.n_tune is 15 there and 16 here"),
        ({"schedule": Schedule(SCHEDULE.tune, SCHEDULE.tune, 15, 2, 7)}, r"schedule\.draw is \[\[.*again"),
        ({"seed": 4}, "seed is 3 there and 4 here"),
        ({"path": (1,)}, r"path is \[\] there and \[1\] here"),
        ({"n_chains": 3}, "n_chains is 2 there and 3 here"),
    ],
)
def test_another_run_is_refused_and_the_difference_named(folder, changes, difference):
    refused(folder, InvalidFileError, f"belongs to another run: .*{difference}.*same settings, or another", **changes)


def test_a_difference_in_a_later_chain_is_found_before_anything_is_written(folder):
    other = folder.parent / "other"
    run(other, seed=4)
    (folder / "chain-1.log").write_bytes((other / "chain-1.log").read_bytes())
    refused(folder, InvalidFileError, r"chain-1.log belongs to another run: seed is 4 there and 3 here", n_draws=20)


def test_runs_of_newer_versions_are_refused(folder, monkeypatch):
    for module, name in ((store, "FORMAT"), (record_log, "VERSION"), (folders, "VERSION")):
        place = folder.parent / f"{module.__name__}.run"
        with monkeypatch.context() as patched:
            patched.setattr(module, name, 9)
            if module is store:
                patched.setattr("bayesgrove.inference.run.FORMAT", 9)
            run(place)
        refused(place, InvalidFileError, r"(format|version) 9; this bayesgrove reads up to 1\. Upgrade it")
        with pytest.raises(InvalidFileError, match="Upgrade it"):
            read_chains(place)


def test_a_damaged_description_is_refused(folder):
    path = folder / "run.json"
    whole = path.read_text()
    for text, match in (
        ("", "is not JSON"),
        (whole[:50], "is not JSON"),
        ("[1]", "damaged, or no run of bayesgrove"),
        (whole.replace('"seed": 3', '"seed": 4'), "the checksum does not match.*or delete it"),
    ):
        path.write_text(text)
        refused(folder, InvalidFileError, match)
        with pytest.raises(InvalidFileError, match=match):
            run_status(folder)
    path.unlink()
    with pytest.raises(InvalidFileError, match=r"holds no run of chains: it has no run\.json"):
        run_status(folder)
    run(folder, resume=True)
    assert path.read_text() == whole


def test_what_json_cannot_hold_is_refused_before_the_run(tmp_path):
    with pytest.raises(RunStoppedError, match=r"run\.json holds JSON's types and finite numbers"):
        run(tmp_path / "run", about={"rate": float("nan")})
    assert contents(tmp_path / "run") == {}


def test_a_log_without_its_beginning_is_refused(folder):
    path = folder / "chain-1.log"
    path.write_bytes(path.read_bytes()[:30])
    refused(folder, InvalidFileError, "chain-1.log.*(not a bayesgrove log|header does not match)")


def test_a_chain_that_has_not_begun_has_no_draws(folder):
    (folder / "chain-1.log").unlink()
    assert [trace.n_draws for trace in read_chains(folder)] == [10, 0]
    assert [chain.n_draws for chain in run_status(folder).chains] == [10, 0]
    assert digest(run(folder, resume=True)) == digest(run(None))


def test_records_that_do_not_follow_each_other_are_refused(folder):
    header = record_log.read_header(folder / "chain-0.log")
    records = list(record_log.read_records(folder / "chain-0.log"))
    draws = [record for record in records if record.kind == 2]
    states = [record for record in records if record.kind == 3]
    for kept, match in (
        (draws, "another record where draw 0 should be"),
        ([records[0], *draws[1:]], "another record where draw 0 should be"),
        ([records[0], *draws[:3], *draws[4:]], "another record where draw 3 should be"),
        ([records[0], *draws[:3], states[-1]], "lacks draws that its last state follows"),
    ):
        (folder / "chain-0.log").unlink()
        with record_log.RecordWriter(folder / "chain-0.log", header) as writer:
            for record in kept:
                writer.append(record.kind, record.payload)
        refused(folder, InvalidFileError, match)


def test_places_where_no_run_can_be(tmp_path):
    (tmp_path / "file").write_text("mine")
    with pytest.raises(InvalidFileError, match=r"cannot make the folder .*file': File exists"):
        run(tmp_path / "file")
    with pytest.raises(InvalidFileError, match=r"cannot make the folder .*: No such file"):
        run(tmp_path / "absent" / "run")
    with pytest.raises(InvalidFileError, match="holds no run of chains"):
        read_chains(tmp_path)


def test_a_read_only_folder_is_refused(folder, monkeypatch):
    real_open = os.open

    def read_only(place, flags, *rest, **options):
        if Path(place).parent == folder and flags & (os.O_WRONLY | os.O_RDWR):
            raise OSError(errno.EROFS, "Read-only file system")
        return real_open(place, flags, *rest, **options)

    monkeypatch.setattr(os, "open", read_only)
    refused(folder, InvalidFileError, "cannot write .*: Read-only file system")
    assert run_status(folder).is_finished  # looking needs no writing
    assert [trace.n_draws for trace in read_chains(folder)] == [10, 10]


def test_a_disk_that_is_full_from_the_start(tmp_path, monkeypatch):
    def full(file):
        raise OSError(errno.ENOSPC, "No space left on device")

    with monkeypatch.context() as patched:
        patched.setattr(os, "fsync", full)
        with pytest.raises(RunStoppedError, match=r"No space left on device\. The run was not started"):
            run(tmp_path / "run")
    assert contents(tmp_path / "run") == {}
    assert digest(run(tmp_path / "run")) == digest(run(None))


HOLDER = """
import sys
from reference.toy_sampler import SCHEDULE, ToySampler
from bayesgrove.inference.repair import known_seed
from bayesgrove.inference.run import RunSettings, run_chains

class Telling(ToySampler):
    def start(self, rng):
        print("started", flush=True)
        return super().start(rng)

settings = RunSettings(n_chains=2, n_draws=100_000, seed=3, n_jobs=1, run_dir=sys.argv[1], resume=True)
run_chains(Telling(pause=0.001), SCHEDULE, settings)
"""

LIMITED = """
import resource, sys
from reference.toy_sampler import SCHEDULE, ToySampler
from bayesgrove.core.errors import RunStoppedError
from bayesgrove.inference.repair import known_seed
from bayesgrove.inference.run import RunSettings, run_chains

resource.setrlimit(resource.RLIMIT_FSIZE, (6000, 6000))
settings = RunSettings(n_chains=2, n_draws=300, seed=3, n_jobs=int(sys.argv[2]), backend=sys.argv[3],
                       run_dir=sys.argv[1])
try:
    run_chains(ToySampler(), SCHEDULE, settings)
except RunStoppedError as error:
    print(error)
"""


def spawn(script, *arguments):
    places = os.pathsep.join((str(Path(bayesgrove.__file__).parents[1]), str(Path(__file__).parents[1])))
    command = [sys.executable, "-c", script, *map(str, arguments)]
    return subprocess.Popen(command, stdout=subprocess.PIPE, env={**os.environ, "PYTHONPATH": places})


def test_a_run_in_use_is_refused_and_can_be_looked_at(tmp_path):
    folder = tmp_path / "run"
    with spawn(HOLDER, folder) as child:
        try:
            assert child.stdout.readline() == b"started\n"
            with pytest.raises(
                InvalidFileError, match=rf"written by another run \(process {child.pid}\)\. Wait for it"
            ):
                run(folder, resume=True)
            sweeps, draws = [0], [0]
            second = None
            while draws[-1] < 20 or second.n_draws < 20:  # they advance together
                status = run_status(folder)
                assert status.is_running
                first, second = status.chains
                sweeps.append(first.sweep)
                draws.append(first.n_draws)
            assert first.is_running
            assert second.is_running
            assert first.view.n_sweeps == 15 + 2 * 100_000
            assert sorted(sweeps) == sweeps
            assert sorted(draws) == draws
        finally:
            child.kill()
    status = run_status(folder)
    assert not status.is_running
    assert status.chains[0].n_draws >= draws[-1]
    assert (folder / "board.bin").exists()  # the killed one's; it is not believed and not in the way
    assert status.chains[0].view is None
    assert digest(run(folder, resume=True)) == digest(run(None))
    assert not (folder / "board.bin").exists()


@pytest.mark.parametrize(("n_jobs", "backend"), [(1, "auto"), (2, "threads"), (2, "processes")])
def test_a_disk_that_fills_up_stops_the_run_with_all_up_to_the_last_record(tmp_path, n_jobs, backend):
    folder = tmp_path / "run"
    with spawn(LIMITED, folder, n_jobs, backend) as child:
        message = child.stdout.read().decode()
    assert child.returncode == 0
    assert "File too large. The run has stopped and its log ends with the last good record" in message
    assert max(chain.n_draws for chain in run_status(folder).chains) > 10
    whole = run(None, n_draws=300)
    for trace, result in zip(read_chains(folder), whole, strict=True):
        np.testing.assert_array_equal(
            trace.arrays().get("labels", np.zeros((0, 6))), result.draws["labels"][: trace.n_draws]
        )
    assert digest(run(folder, resume=True, n_draws=300)) == digest(whole)


def check_damage(folder: Path, n_trials: int, seed: int) -> dict[str, int]:
    """Flip a bit or cut a file, n_trials times: an error of ours and nothing changed, or the right draws."""
    chances = random.Random(seed)
    pristine = contents(folder)
    whole = run(None)
    outcomes = {"refused": 0, "mended": 0}
    for _ in range(n_trials):
        name = chances.choice(sorted(pristine))
        damaged = bytearray(pristine[name])
        place = chances.randrange(len(damaged))
        if chances.random() < 0.5:
            damaged[place] ^= 1 << chances.randrange(8)
        else:
            del damaged[place:]
        (folder / name).write_bytes(damaged)
        before = contents(folder)
        try:
            for trace, result in zip(read_chains(folder), whole, strict=True):
                labels = trace.arrays().get("labels", np.zeros((0, 6)))
                np.testing.assert_array_equal(labels, result.draws["labels"][: trace.n_draws])
        except BayesgroveError:
            pass
        try:
            assert digest(run(folder, resume=True)) == digest(whole)
            outcomes["mended"] += 1
        except BayesgroveError:
            assert contents(folder) == before
            outcomes["refused"] += 1
        for path in folder.iterdir():
            path.unlink()
        for other, data in pristine.items():
            (folder / other).write_bytes(data)
    return outcomes


def test_two_hundred_flipped_bits_and_cuts_are_never_silently_wrong(folder):
    outcomes = check_damage(folder, 200, seed=8)
    assert min(outcomes.values()) > 20


@pytest.mark.slow
def test_two_thousand_flipped_bits_and_cuts_are_never_silently_wrong(folder):
    outcomes = check_damage(folder, 2000, seed=9)
    assert min(outcomes.values()) > 200


def check_repair(folder: Path, n_trials: int, seed: int) -> dict[str, int]:
    """Flip bits, cut files or write over a block, n_trials times: repaired runs have the bits of the whole one."""
    chances = random.Random(seed)
    pristine, whole = contents(folder), digest(run(None))
    outcomes = {"repaired": 0, "refused": 0}
    for _ in range(n_trials):
        name = chances.choice(sorted(pristine))
        damaged = bytearray(pristine[name])
        place = chances.randrange(len(damaged))
        match chances.randrange(3):
            case 0:
                damaged[place] ^= 1 << chances.randrange(8)
            case 1:
                del damaged[place:]
            case 2:
                damaged[place : place + 64] = chances.randbytes(len(damaged[place : place + 64]))
        (folder / name).write_bytes(damaged)
        try:
            assert digest(run(folder, resume="repair")) == whole
            outcomes["repaired"] += 1
            kept = [path.read_bytes() for path in folder.glob(f"{name}.damaged-*")]
            assert (folder / name).read_bytes().startswith(damaged) or name == "run.json" or bytes(damaged) in kept
        except InvalidFileError as error:
            if "Upgrade it" not in str(error):  # a bit of the version was flipped
                raise
            outcomes["refused"] += 1
        for path in folder.iterdir():
            path.unlink()
        for other, data in pristine.items():
            (folder / other).write_bytes(data)
    return outcomes


def test_damaged_runs_are_repaired_to_the_same_bits(folder):
    assert check_repair(folder, 30, seed=10)["repaired"] >= 28


@pytest.mark.slow
def test_two_hundred_damaged_runs_are_repaired_to_the_same_bits(folder):
    assert check_repair(folder, 200, seed=11)["repaired"] >= 190


def test_damage_is_refused_and_names_the_way_out(folder):
    log = folder / "chain-1.log"
    data = bytearray(log.read_bytes())
    data[len(data) // 2] ^= 4
    log.write_bytes(data)
    refused(
        folder, InvalidFileError, r'draw what is lost again: resume="repair" in Python, bayesgrove resume RUN --repair'
    )
    assert digest(run(folder, resume="repair")) == digest(run(None))
    assert (folder / "chain-1.log.damaged-1").read_bytes() == bytes(data)
    with pytest.raises(InvalidSettingError, match="resume must be True, False or 'repair', got 'mend'"):
        run(folder, resume="mend")


def test_the_seed_of_a_damaged_description_is_that_of_the_logs(folder):
    (folder / "run.json").write_bytes(b"{")
    assert known_seed(folder) == SETTINGS.seed
    for log in folder.glob("*.log"):
        log.unlink()
    with pytest.raises(InvalidFileError, match=r"run\.json"):
        known_seed(folder)


def test_the_description_is_for_people(folder):
    document = json.loads((folder / "run.json").read_text())
    assert document["format"] == "bayesgrove run"
    assert document["schedule"]["n_tune"] == 15
    assert document["n_draws"] == 10
    assert str(folder) not in (folder / "run.json").read_text()
