"""Experiments of the papers, run again: their tables beside ours, with a verdict for every claim."""
