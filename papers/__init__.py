"""Experiments of the papers, run again: their tables beside ours, with a verdict for every claim.

`python -m papers --help`; results are in `docs/reproduction.md`. Not part of the installed package.
"""
