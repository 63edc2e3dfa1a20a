"""Many fits of one model: settings times repeats, each kept as soon as it is done."""

from bayesgrove.sweeps.run import sweep
from bayesgrove.sweeps.table import Sweep

__all__ = ["Sweep", "sweep"]
