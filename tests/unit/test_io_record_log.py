"""The log of a run: killed, torn, damaged, locked, full or newer, it never says what was not written."""

import errno
import logging
import os
import random
import resource
import select
import signal
import struct
import subprocess
import sys
import time
import zlib
from pathlib import Path

import pytest

import bayesgrove
from bayesgrove.core.errors import BayesgroveError, InvalidFileError, InvalidSettingError, RunStoppedError
from bayesgrove.io import record_log
from bayesgrove.io.record_log import Record, RecordWriter, read_header, read_records

pytestmark = pytest.mark.unit

HEADER = {"seed": 7, "data": {"sha256": "ab12", "rows": 30}, "model": "ncrp"}
RECORDS = [Record(1, 0, b"draw 0"), Record(2, 1, b"full state"), Record(1, 2, b""), Record(1, 3, b"draw 3")]

CHILD = """
import sys
from bayesgrove.io.record_log import RecordWriter

def payload(index):
    return (b"%d " % index) * (20_000 if index % 25 == 24 else 5)

writer = RecordWriter(sys.argv[1], {"seed": 7}, sync_seconds=60)
print("open", writer.n_records, flush=True)
while True:
    for _ in range(10):
        index = writer.append(1, payload(writer.n_records))
    writer.sync()
    print("synced", index, flush=True)
"""

LIMITED = """
import resource, sys
from bayesgrove.core.errors import RunStoppedError
from bayesgrove.io.record_log import RecordWriter

with RecordWriter(sys.argv[1], {"seed": 7}) as writer:
    resource.setrlimit(resource.RLIMIT_FSIZE, (1000, 1000))
    try:
        while True:
            writer.append(1, b"x" * 70)
    except RunStoppedError as error:
        print(error.n_records, error)
"""


def payload(index: int) -> bytes:
    """What CHILD writes at an index."""
    return (b"%d " % index) * (20_000 if index % 25 == 24 else 5)


def spawn(script: str, path: Path) -> subprocess.Popen:
    environment = {**os.environ, "PYTHONPATH": str(Path(bayesgrove.__file__).parents[1])}
    command = [sys.executable, "-c", script, str(path)]
    return subprocess.Popen(command, stdout=subprocess.PIPE, env=environment)


def written(path: Path, records: list[Record] = RECORDS) -> bytes:
    """Bytes of a fresh log with these records."""
    with RecordWriter(path, HEADER) as writer:
        for record in records:
            assert writer.append(record.kind, record.payload) == record.index
    return path.read_bytes()


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "chain-0.log"


def test_what_goes_in_comes_out(path):
    written(path)
    assert list(read_records(path)) == RECORDS
    assert list(read_records(path, start=2)) == RECORDS[2:]
    assert read_header(path) == HEADER


def test_an_existing_log_is_continued(path):
    written(path)
    with RecordWriter(path, HEADER) as writer:
        assert (writer.n_records, writer.n_synced) == (4, 4)
        assert writer.append(5, b"more") == 4
    assert list(read_records(path)) == [*RECORDS, Record(5, 4, b"more")]


def test_an_open_log_without_records_is_a_log(path):
    with RecordWriter(path, {}):
        assert read_header(path) == {}
        assert list(read_records(path)) == []


def test_a_link_and_its_log_have_one_lock(path, tmp_path):
    written(path)
    link = tmp_path / "link"
    link.symlink_to(path)
    with RecordWriter(link, HEADER), pytest.raises(InvalidFileError, match="another run"):
        RecordWriter(path, HEADER)


def test_records_are_synced_after_a_while_and_at_the_end(path, monkeypatch):
    now = [100.0]
    monkeypatch.setattr(record_log.time, "monotonic", lambda: now[0])
    with RecordWriter(path, HEADER, sync_seconds=1.0) as writer:
        writer.append(1, b"a")
        assert writer.n_synced == 0
        now[0] += 0.9
        writer.append(1, b"b")
        assert writer.n_synced == 0
        now[0] += 0.2
        writer.append(1, b"c")
        assert writer.n_synced == 3
        writer.append(1, b"d")
        assert writer.n_synced == 3
    assert writer.n_synced == 4


def test_a_tail_torn_at_any_byte_is_cut_and_the_log_goes_on(path, caplog):
    short = len(written(path, RECORDS[:3]))
    path.unlink()
    whole = written(path)
    for size in range(short, len(whole)):
        path.write_bytes(whole[:size])
        assert list(read_records(path)) == RECORDS[:3]
        caplog.clear()
        with caplog.at_level(logging.WARNING, "bayesgrove"), RecordWriter(path, HEADER) as writer:
            assert path.stat().st_size == short
            assert writer.append(1, b"draw 3") == 3
        assert (f"cut {size - short} bytes" in caplog.text) == (size > short)
        assert path.read_bytes() == whole


def test_a_log_cut_inside_its_header_is_refused_unchanged(path):
    whole = written(path, [])
    for size in range(len(whole)):
        path.write_bytes(whole[:size])
        with pytest.raises(InvalidFileError, match=r"not a bayesgrove log|checksum of the header"):
            RecordWriter(path, HEADER)
        assert path.read_bytes() == whole[:size]


def test_a_tail_of_zeros_as_left_by_a_loss_of_power_is_cut(path):
    whole = written(path)
    path.write_bytes(whole + bytes(3 * 2**20))  # more than one chunk of the search
    with RecordWriter(path, HEADER) as writer:
        assert writer.n_records == 4
    assert path.read_bytes() == whole


def test_every_flipped_bit_is_an_error_or_costs_the_last_record_only(path):
    last = len(written(path, RECORDS[:3]))
    path.unlink()
    whole = written(path)
    for place in range(len(whole)):
        for bit in (0, 4, 7):
            damaged = bytearray(whole)
            damaged[place] ^= 1 << bit
            path.write_bytes(damaged)
            if place >= last:
                assert list(read_records(path)) == RECORDS[:3]
                continue
            with pytest.raises(InvalidFileError, match=r"damaged|version"):
                list(read_records(path))
            if bit == 0:
                with pytest.raises(InvalidFileError, match=r"damaged|version"):
                    RecordWriter(path, HEADER)
                assert path.read_bytes() == damaged


def test_damage_far_before_the_next_record_is_still_in_the_middle(path):
    """The head of the record behind lies across two chunks of the search."""
    for extra in range(40):
        with RecordWriter(path, HEADER) as writer:
            begin = path.stat().st_size
            writer.append(1, bytes(record_log._CHUNK_BYTES - 50 + extra))
            writer.append(1, b"last")
        damaged = bytearray(path.read_bytes())
        damaged[begin + 6] ^= 1
        path.write_bytes(damaged)
        with pytest.raises(InvalidFileError, match=f"damaged at byte {begin}, where record 0 should be"):
            list(read_records(path))
        path.unlink()


def test_records_of_another_log_or_in_another_order_are_refused(path, tmp_path):
    empty = len(written(path, []))
    path.unlink()
    first, second = (written(tmp_path / name, [Record(1, 0, b"same size")]) for name in "ab")
    assert first == second
    path.write_bytes(first + first[empty:])
    with pytest.raises(InvalidFileError, match="where record 1 should be"):
        list(read_records(path))
    with RecordWriter(path.with_name("c"), {"seed": 8}) as writer:
        start = writer.path.stat().st_size
        writer.append(1, b"same size")
    path.write_bytes(first[:empty] + writer.path.read_bytes()[start:])
    assert list(read_records(path)) == []


def test_a_length_that_lies_allocates_nothing(path):
    whole = written(path, [])
    checksum = struct.unpack_from("<I", whole, 20)[0]
    head = struct.pack("<4sBQQI", b"\x9eRec", 1, 2**62, 0, 0)
    path.write_bytes(whole + head + struct.pack("<I", zlib.crc32(head, checksum)) + b"little")
    assert list(read_records(path)) == []
    path.write_bytes(struct.pack("<8sIQI", b"BGRVLOG\n", 1, 2**62, 0) + b"{}")
    with pytest.raises(InvalidFileError, match="checksum of the header"):
        read_header(path)


@pytest.mark.parametrize(("text", "message"), [(b"{", "not valid JSON"), (b"[]", "not a JSON object")])
def test_a_header_that_is_no_object_is_refused(path, text, message):
    start = struct.pack("<8sIQ", b"BGRVLOG\n", 1, len(text))
    path.write_bytes(start + struct.pack("<I", zlib.crc32(start + text)) + text)
    with pytest.raises(InvalidFileError, match=message):
        read_header(path)


def test_a_newer_version_is_refused_unchanged(path):
    newer = bytearray(written(path))
    newer[8:12] = struct.pack("<I", 2)
    path.write_bytes(newer)
    for action in (lambda: read_header(path), lambda: list(read_records(path)), lambda: RecordWriter(path, HEADER)):
        with pytest.raises(InvalidFileError, match=r"format version 2; this bayesgrove reads up to 1\. Upgrade"):
            action()
    assert path.read_bytes() == newer


@pytest.mark.parametrize(
    ("header", "message"),
    [
        ({**HEADER, "seed": 8}, "another run: seed is 7 there and 8 here. Use"),
        ({**HEADER, "seed": 7.0}, "seed is 7 there and 7.0 here"),
        ({**HEADER, "data": {"sha256": "ab12", "rows": 31}}, "another run: data.rows is 30 there and 31 here. Use"),
        ({**HEADER, "thin": 2}, "thin is absent there and 2 here"),
        ({"seed": 7, "model": "ncrp", "data": 1}, "data is absent there and 1 here; data.rows is 30 there and absent"),
        ({}, "the header is absent there and {} here"),
    ],
)
def test_the_log_of_another_run_is_refused_with_the_difference(path, header, message):
    before = written(path)
    with pytest.raises(InvalidFileError) as caught:
        RecordWriter(path, header)
    assert message in str(caught.value)
    assert path.read_bytes() == before
    RecordWriter(path, HEADER).close()  # the refused writer has given the lock back


@pytest.mark.parametrize("header", [{"a": float("nan")}, {"a": b"bytes"}, {"a": {1, 2}}])
def test_a_header_must_be_json(path, header):
    with pytest.raises(InvalidSettingError, match="holds JSON's types and finite numbers"):
        RecordWriter(path, header)
    assert not path.exists()


def test_settings_out_of_range(path):
    with pytest.raises(InvalidSettingError, match="header of a log has at most"):
        RecordWriter(path, {"a": "x" * record_log.MAX_HEADER_BYTES})
    with pytest.raises(InvalidSettingError, match="sync_seconds must be 0 or more, got -1"):
        RecordWriter(path, HEADER, sync_seconds=-1)
    with RecordWriter(path, HEADER) as writer:
        for kind in (-1, 256):
            with pytest.raises(InvalidSettingError, match=f"kind of a record is 0 to 255, got {kind}"):
                writer.append(kind, b"")
        assert writer.append(255, b"") == 0


def test_killed_writers_lose_nothing_they_acknowledged(path):
    """15 times kill -9 at a random moment; small and large records, so that some die inside a write."""
    moments = random.Random(11)
    acknowledged = -1
    n_before = 0
    for _ in range(15):
        with spawn(CHILD, path) as child:
            opened = child.stdout.readline().split()
            assert opened == [b"open", b"%d" % n_before]
            time.sleep(moments.uniform(0.0, 0.06))
            child.send_signal(signal.SIGKILL)
            lines = child.stdout.read().split(b"\n")[:-1]  # a line without its end was not acknowledged
        acknowledged = max([acknowledged, *(int(line.split()[1]) for line in lines)])
        records = list(read_records(path))
        assert len(records) > acknowledged
        assert records == [Record(1, index, payload(index)) for index in range(len(records))]
        n_before = len(records)
    assert acknowledged > 15
    with RecordWriter(path, {"seed": 7}) as writer:
        assert writer.append(1, b"after") == n_before


def test_a_live_process_keeps_others_out_and_a_dead_one_does_not(path):
    with spawn(CHILD, path) as child:
        assert child.stdout.readline() == b"open 0\n"
        with pytest.raises(InvalidFileError, match=rf"written by another run \(process {child.pid}\)\. Wait"):
            RecordWriter(path, {"seed": 7})
        assert child.poll() is None
        child.kill()
    with RecordWriter(path, {"seed": 7}) as writer:
        assert path.with_name("chain-0.log.lock").read_text() == f"{os.getpid()}\n"
        with pytest.raises(InvalidFileError, match=f"process {os.getpid()}"):
            RecordWriter(path, {"seed": 7})
        writer.append(1, b"the one refused has not taken the lock away")


def test_reading_while_another_process_writes(path):
    with spawn(CHILD, path) as child:
        child.stdout.readline()
        seen = []
        while len(seen) < 6 and select.select([child.stdout], [], [], 30)[0]:
            synced = int(child.stdout.readline().split()[1])
            records = list(read_records(path))
            assert records == [Record(1, index, payload(index)) for index in range(len(records))]
            seen.append(len(records))
            assert len(records) > synced
        child.kill()
    assert len(seen) == 6


def test_a_disk_that_fills_up_stops_the_run_at_the_last_good_record(path, monkeypatch):
    before = written(path)
    writer = RecordWriter(path, HEADER)
    real_write = os.write
    n_calls = []

    def full(file, data):
        n_calls.append(len(data))
        if len(n_calls) == 1:
            return real_write(file, bytes(data)[:10])
        raise OSError(errno.ENOSPC, "No space left on device")

    with monkeypatch.context() as patched:
        patched.setattr(os, "write", full)
        with pytest.raises(
            RunStoppedError, match=r"No space left on device\. The run has stopped .* \(4 in all\)"
        ) as error:
            writer.append(1, b"too much")
    assert n_calls[1] == n_calls[0] - 10
    assert (error.value.n_records, error.value.path) == (4, path)
    assert path.read_bytes() == before
    with pytest.raises(RunStoppedError, match="is closed; open it again to append"):
        writer.append(1, b"again")
    with RecordWriter(path, HEADER) as writer:
        assert writer.append(1, b"now there is room") == 4


def test_a_real_limit_on_the_size_of_files_stops_the_run(path):
    """The system itself writes a part of a record and then refuses."""
    assert resource.getrlimit(resource.RLIMIT_FSIZE)[0] == resource.RLIM_INFINITY
    with spawn(LIMITED, path) as child:
        n_records, message = child.stdout.read().decode().split(maxsplit=1)
    assert child.returncode == 0
    assert "File too large. The run has stopped" in message
    assert list(read_records(path)) == [Record(1, index, b"x" * 70) for index in range(int(n_records))]
    with RecordWriter(path, {"seed": 7}) as writer:
        assert writer.n_records == int(n_records) > 5


def test_short_writes_are_finished(path, monkeypatch):
    expected = written(path)
    path.unlink()
    real_write = os.write
    monkeypatch.setattr(os, "write", lambda file, data: real_write(file, bytes(data)[:7]))
    assert written(path) == expected


def test_a_write_of_nothing_does_not_loop_for_ever(path, monkeypatch):
    writer = RecordWriter(path, HEADER)
    monkeypatch.setattr(os, "write", lambda file, data: 0)
    with pytest.raises(RunStoppedError, match="nothing could be written"):
        writer.append(1, b"x")


def test_a_failed_sync_goes_back_to_what_is_known_to_be_on_the_disk(path, monkeypatch):
    writer = RecordWriter(path, HEADER, sync_seconds=60)
    writer.append(1, b"safe")
    writer.sync()
    writer.append(1, b"unknown")

    def broken(file):
        raise OSError(errno.EIO, "Input/output error")

    monkeypatch.setattr(record_log, "_data_sync", broken)
    with pytest.raises(RunStoppedError, match=r"Input/output error.*\(1 in all\)"):
        writer.close()
    monkeypatch.undo()
    assert list(read_records(path)) == [Record(1, 0, b"safe")]
    RecordWriter(path, HEADER).close()


@pytest.mark.parametrize("n_bytes", [0, 5, 1000])
def test_ctrl_c_inside_a_write_leaves_no_half_record(path, monkeypatch, n_bytes):
    real_write = os.write

    def interrupted(file, data):
        real_write(file, bytes(data)[:n_bytes])
        raise KeyboardInterrupt

    with RecordWriter(path, HEADER) as writer:
        writer.append(1, b"first")
        with monkeypatch.context() as patched:
            patched.setattr(os, "write", interrupted)
            with pytest.raises(KeyboardInterrupt):
                writer.append(1, b"interrupted")
        assert writer.append(1, b"second") == 1
        with monkeypatch.context() as patched:
            patched.setattr(os, "write", interrupted)
            with pytest.raises(KeyboardInterrupt):
                writer.append(1, b"interrupted again, then closed")
    assert [record.payload for record in read_records(path)] == [b"first", b"second"]


def test_places_where_no_log_can_be(path, tmp_path):
    with pytest.raises(InvalidFileError, match="is a folder"):
        RecordWriter(tmp_path, HEADER)
    with pytest.raises(InvalidFileError, match="there is no folder"):
        RecordWriter(tmp_path / "absent" / "log", HEADER)
    with pytest.raises(InvalidFileError, match="there is no log"):
        read_header(path)
    with pytest.raises(InvalidFileError, match="there is no log"):
        list(read_records(tmp_path))
    path.with_name("chain-0.log.lock").mkdir()
    with pytest.raises(InvalidFileError, match=r"cannot write .*\.lock: Is a directory"):
        RecordWriter(path, HEADER)
    assert not path.exists()


def test_another_kind_of_file_is_refused_unchanged(path):
    path.write_text("row,cluster\n1,2\n" * 10)
    with pytest.raises(InvalidFileError, match="not a bayesgrove log"):
        RecordWriter(path, HEADER)
    assert path.read_text() == "row,cluster\n1,2\n" * 10


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write into read-only folders; run as another user")
def test_a_read_only_folder_is_refused(path, tmp_path):
    tmp_path.chmod(0o555)
    try:
        with pytest.raises(InvalidFileError, match=r"cannot write .*: Permission denied"):
            RecordWriter(path, HEADER)
    finally:
        tmp_path.chmod(0o755)


@pytest.mark.parametrize("name", ["chain-0.log", "chain-0.log.lock"])
def test_a_read_only_file_system_is_refused_unchanged(path, monkeypatch, name):
    before = written(path)
    real_open = os.open

    def read_only(place, flags, *rest, **options):
        if Path(place).name == name and flags & (os.O_WRONLY | os.O_RDWR):
            raise OSError(errno.EROFS, "Read-only file system")
        return real_open(place, flags, *rest, **options)

    with monkeypatch.context() as patched:
        patched.setattr(os, "open", read_only)
        with pytest.raises(InvalidFileError, match=rf"cannot write .*{name}: Read-only file system"):
            RecordWriter(path, HEADER)
    assert path.read_bytes() == before
    RecordWriter(path, HEADER).close()


def test_a_full_disk_at_the_very_start_leaves_no_log(path, monkeypatch):
    def full(file):
        raise OSError(errno.ENOSPC, "No space left on device")

    with monkeypatch.context() as patched:
        patched.setattr(os, "fsync", full)
        with pytest.raises(BayesgroveError, match="No space left on device"):
            RecordWriter(path, HEADER)
    assert [found.name for found in path.parent.iterdir()] == ["chain-0.log.lock"]
    RecordWriter(path, HEADER).close()


def test_a_hundred_thousand_small_appends(path, record_property):
    start = time.perf_counter()
    with RecordWriter(path, HEADER) as writer:
        for _ in range(100_000):
            writer.append(1, b"a draw and the state after it: 64 bytes or thereabouts..........")
    seconds = time.perf_counter() - start
    record_property("appends_per_second", round(100_000 / seconds))
    print(f"{100_000 / seconds:,.0f} appends per second")
    assert sum(1 for _ in read_records(path)) == 100_000
    assert seconds < 30  # a second on an idle machine; this only catches a sync per record
