"""Folders of chains: logs and notes with damaged bytes, and with other records under right checksums."""

import base64
import hashlib
import json
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import Any

from hypothesis import strategies as st
from hypothesis.strategies import SearchStrategy

from bayesgrove.inference.status import read_chains, run_status
from bayesgrove.io.record_log import RecordWriter, read_header, read_records
from fuzzing.cases import Case, Target
from fuzzing.grammars import documents
from fuzzing.targets.config import little_request
from fuzzing.targets.places import command, lay_out, workshop
from fuzzing.targets.values import decoded, encoded, with_changes

NOTE = "run.json"
KINDS = ("log", "records", "note", "signed-note")


def attempt(case: Case, folder: Path) -> None:
    """Look at the run, read its draws, report it, go on with it."""
    lay_out(folder, "draws", "data.csv")
    chains = folder / "draws" / "chains"
    request = folder / "draws" / "request.json"
    request.write_bytes(little_request(request.read_bytes()))
    (folder / "draws" / "summary.json").unlink()  # not ended: all is read from the logs
    if case.kind == "log":
        (chains / log_name()).write_bytes(case.content)
    elif case.kind == "records":
        write_records(chains / log_name(), decoded(case.content))
    elif case.kind == "note":
        (chains / NOTE).write_bytes(case.content)
    else:
        (chains / NOTE).write_bytes(signed(decoded(case.content)))
    run_status(chains)
    read_chains(chains)
    command(["report", "draws", "-o", "page.html"])
    command(["resume", "draws"])


@cache
def log_name() -> str:
    """The log of the first chain."""
    return min(path.name for path in (Path(workshop().name) / "draws" / "chains").glob("chain-*.log"))


def write_records(path: Path, given: Any) -> None:
    """A log with these records, its checksums right."""
    given = given if isinstance(given, dict) else {}
    header, records = given.get("header"), given.get("records")
    path.unlink()
    with RecordWriter(path, header if isinstance(header, dict) else {}) as log:
        for record in records if isinstance(records, list) else []:
            kind, payload = _record(record)
            log.append(kind, payload)


def _record(record: Any) -> tuple[int, bytes]:
    """A kind within its byte and a payload; texts stand for themselves where they are not base 64."""
    held = record if isinstance(record, dict) else {}
    kind, payload = held.get("kind", 1), held.get("payload", "")
    kind = kind % 256 if isinstance(kind, int) else 1
    try:
        return kind, base64.b64decode(payload, validate=True)
    except (TypeError, ValueError):
        return kind, json.dumps(payload).encode()


def signed(document: Any) -> bytes:
    """`run.json` of whatever is given, its checksum right where it can have one."""
    if not isinstance(document, dict):
        return encoded(document)
    document.pop("sha256", None)
    text = json.dumps(document, sort_keys=True)
    return encoded({**document, "sha256": hashlib.sha256(text.encode()).hexdigest()})


def structured(kind: str) -> SearchStrategy[bytes]:
    """Logs of random bytes, records and notes with values replaced."""
    if kind == "log":
        start = seeds(kind)[0]
        return st.builds(lambda n, rest: start[: n % len(start)] + rest, st.integers(0, 2**20), st.binary(max_size=60))
    if kind == "records":
        return st.one_of(with_changes(seeds(kind)), with_payloads())
    return st.one_of(with_changes(seeds(kind)), documents().map(encoded))


def with_payloads() -> SearchStrategy[bytes]:
    """The records with one payload changed in some bytes."""

    def change(number: int, at: int, new: bytes) -> bytes:
        document = json.loads(seeds("records")[0])
        record = document["records"][number % len(document["records"])]
        payload = base64.b64decode(record["payload"])
        at %= len(payload) + 1
        record["payload"] = base64.b64encode(payload[:at] + new + payload[at + len(new) :]).decode()
        return encoded(document)

    return st.builds(change, st.integers(0, 20), st.integers(0, 2**16), st.binary(min_size=1, max_size=8))


@cache
def seeds(kind: str) -> Sequence[bytes]:
    """The run as it is."""
    chains = Path(workshop().name) / "draws" / "chains"
    if kind == "log":
        return [(chains / log_name()).read_bytes()]
    if kind == "records":
        found = [
            {"kind": record.kind, "payload": base64.b64encode(record.payload).decode()}
            for record in read_records(chains / log_name())
        ]
        return [encoded({"header": read_header(chains / log_name()), "records": found})]
    return [(chains / NOTE).read_bytes()]


TARGET = Target("runs", KINDS, structured, seeds, attempt)
