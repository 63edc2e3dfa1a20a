"""Lines for people who wait: what is under way, now and then, while nothing else is shown.

They go to the log `bayesgrove.progress`, and to stderr where nobody has set up logging.
"""

import contextlib
import logging
import sys
import threading
from collections.abc import Callable, Iterator

SECONDS = 10.0
"""Between two lines."""

logger = logging.getLogger("bayesgrove.progress")
logger.setLevel(logging.INFO)


class StderrHandler(logging.Handler):
    """Writes to stderr as it is when a line comes: a progress bar may have replaced it to stay below the lines."""

    def emit(self, record: logging.LogRecord) -> None:
        """Write one line."""
        with contextlib.suppress(OSError, ValueError):  # nobody reads it any more
            sys.stderr.write(f"bayesgrove: {self.format(record)}\n")
            sys.stderr.flush()


STDERR = StderrHandler()


def tell(words: str) -> None:
    """One line."""
    if logger.hasHandlers():
        logger.info("%s", words)
    elif logger.isEnabledFor(logging.INFO):
        STDERR.handle(logger.makeRecord(logger.name, logging.INFO, "", 0, words, (), None))


@contextlib.contextmanager
def telling(words: Callable[[], str], seconds: float = SECONDS) -> Iterator[Callable[[], None]]:
    """Tell what `words()` gives every so many seconds while the block runs; gives a function that ends it early."""
    over = threading.Event()

    def report() -> None:
        while not over.wait(seconds):
            tell(words())

    thread = threading.Thread(target=report, name="bayesgrove-notices", daemon=True)
    thread.start()
    try:
        yield over.set
    finally:
        over.set()
        thread.join()
