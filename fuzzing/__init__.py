"""Hostile, damaged and random inputs for all that reads from outside; `python -m fuzzing --help`."""
