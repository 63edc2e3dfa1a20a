"""Draws on disk: one log per chain, to which each draw is added at once and a whole state now and then."""

import os
import time
from collections import deque
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from bayesgrove.core.errors import InvalidFileError
from bayesgrove.inference.chain import Checkpoint, Draw, n_draws_after
from bayesgrove.inference.records import DRAW, LAYOUT, STATE, DrawFormat, decode_state, encode_state
from bayesgrove.inference.schedule import Schedule
from bayesgrove.inference.trace import MemoryTrace, other_draw
from bayesgrove.io.record_log import RecordWriter, read_header, read_records, refuse_other_header

FORMAT = 1
LOCK_PATIENCE = 1.5
"""Seconds to wait for a lock: workers of a killed run need a moment to notice that they are orphans."""


def log_path(folder: Path, chain: int) -> Path:
    """The log of a chain."""
    return folder / f"chain-{chain}.log"


@dataclass
class _Contents:
    """What a log holds: the layout, how many draws, the last state, and the draws made after it as bytes."""

    layout: DrawFormat | None = None
    n_draws: int = 0
    checkpoint: Checkpoint | None = None
    recent: deque[tuple[int, bytes]] = field(default_factory=deque)


class DiskTrace:
    """The draws of a chain as they are added to its log; nothing is kept in memory.

    Parameters
    ----------
    path : Path
        The log, made if there is none.
    header : mapping
        What the run is; a log of another run is refused.
    """

    def __init__(self, path: Path, header: Mapping[str, Any]) -> None:
        if path.exists():
            refuse_newer(path)
        self._writer = _open_patiently(path, header)
        try:
            contents = _scan(path, Schedule.from_json(header["schedule"]))
        except BaseException:
            self._writer.close()
            raise
        self._layout = contents.layout
        self.checkpoint = contents.checkpoint
        self._recent = contents.recent
        self.n_draws = contents.n_draws

    def append(self, draw: Draw) -> None:
        """Add a draw; one that is there already must be equal, to the last bit."""
        layout = self._layout
        if layout is None:
            layout = self._layout = DrawFormat.of(draw)
            self._writer.append(LAYOUT, layout.to_bytes())
        payload = layout.encode(draw)
        if draw.number < self.n_draws:
            if not self._recent or self._recent.popleft() != (draw.number, payload):
                raise other_draw(draw.number, self._writer.path)
            return
        self._writer.append(DRAW, payload)
        self.n_draws = draw.number + 1

    def save(self, checkpoint: Checkpoint) -> None:
        """Add where the chain can go on from."""
        self._writer.append(STATE, encode_state(checkpoint))

    def close(self) -> None:
        """Force all to the disk and give the lock back."""
        self._writer.close()


def read_trace(path: Path, n_draws: int) -> MemoryTrace:
    """The first draws of a log, none where there is no log; an InvalidFileError where any record of it is damaged."""
    trace = MemoryTrace(n_draws)
    if not os.path.lexists(path):  # a chain that waits for its turn
        return trace
    for draw in read_draws(path):
        if draw.number < n_draws:  # go on to the end all the same: damage there must not go unnoticed
            trace.append(draw)
    return trace


def read_draws(path: Path) -> Iterator[Draw]:
    """The draws of a log one by one, also while it is written."""
    return (layout.decode(payload) for layout, payload in _draw_records(path))


def last_draw(path: Path) -> Draw | None:
    """The newest draw of a log, also while it is written."""
    newest = None
    for newest in _draw_records(path):  # noqa: B007
        pass
    return None if newest is None else newest[0].decode(newest[1])


def count_draws(path: Path) -> int:
    """Draws in a log, 0 where there is no log."""
    return sum(1 for _ in _draw_records(path)) if os.path.lexists(path) else 0


def _draw_records(path: Path) -> Iterator[tuple[DrawFormat, bytes]]:
    refuse_newer(path)
    layout = None
    number = 0
    for record in read_records(path):
        if record.kind == LAYOUT:
            layout = DrawFormat.from_bytes(record.payload)
        elif record.kind == DRAW:
            yield _checked(path, layout, record.payload, number), record.payload
            number += 1


def refuse_newer(path: Path) -> None:
    """Raise where the log was made by a later version, whose records may mean other things."""
    version = read_header(path).get("format")
    if isinstance(version, int) and version > FORMAT:
        raise InvalidFileError(
            f"{path} holds records of format {version}; this bayesgrove reads up to {FORMAT}. Upgrade it.",
            path=path,
            version=version,
        )


def check_log(path: Path, header: Mapping[str, Any]) -> None:
    """Raise where a log belongs to another run, naming the differences, or comes from a later version."""
    refuse_newer(path)
    refuse_other_header(path, header)


def _open_patiently(path: Path, header: Mapping[str, Any]) -> RecordWriter:
    give_up = time.monotonic() + LOCK_PATIENCE
    while True:
        try:
            return RecordWriter(path, header)
        except InvalidFileError as error:
            holder = getattr(error, "holder", None)
            if holder is None or holder == str(os.getpid()) or time.monotonic() > give_up:
                raise
        time.sleep(0.05)


def scan_log(path: Path) -> None:
    """Raise where the records of a log, each whole in itself, do not follow each other as they should."""
    try:
        schedule = Schedule.from_json(read_header(path)["schedule"])
    except (LookupError, TypeError, ValueError, AttributeError) as error:
        raise InvalidFileError(f"{path} is damaged: it has no schedule.", path=path) from error
    _scan(path, schedule)


def _scan(path: Path, schedule: Schedule) -> _Contents:
    found = _Contents()
    for record in read_records(path):
        if record.kind == LAYOUT:
            found.layout = DrawFormat.from_bytes(record.payload)
        elif record.kind == DRAW:
            _checked(path, found.layout, record.payload, found.n_draws)
            found.recent.append((found.n_draws, record.payload))
            found.n_draws += 1
        elif record.kind == STATE:
            found.checkpoint = decode_state(record.payload)
            n_before = n_draws_after(schedule, found.checkpoint.sweep)
            if n_before > found.n_draws:
                raise InvalidFileError(f"{path} lacks draws that its last state follows; it is damaged.", path=path)
            while found.recent and found.recent[0][0] < n_before:
                found.recent.popleft()
    return found


def _checked(path: Path, layout: DrawFormat | None, payload: bytes, expected: int) -> DrawFormat:
    """The layout, after a look whether this is the draw that should come next."""
    if layout is None or layout.number(payload) != expected:
        raise InvalidFileError(f"{path} has another record where draw {expected} should be; it is damaged.", path=path)
    return layout
