"""One self-contained HTML page from a Result."""

from bayesgrove.report.page import write_report

__all__ = ["write_report"]
