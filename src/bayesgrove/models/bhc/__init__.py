"""Bayesian hierarchical clustering: exact and randomized."""
