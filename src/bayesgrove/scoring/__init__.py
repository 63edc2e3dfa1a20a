"""Scores of one row against many clusters, for every sampler and search that moves single rows."""
