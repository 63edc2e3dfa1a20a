"""Measurements: `python -m benchmarks NAME [--json FILE]`; times come as ratios to a peer or a floor."""
