"""Pictures of trees and results; matplotlib is imported when something is drawn."""

from bayesgrove.plot.dendrograms import dendrogram
from bayesgrove.plot.icicles import icicle

__all__ = ["dendrogram", "icicle"]
