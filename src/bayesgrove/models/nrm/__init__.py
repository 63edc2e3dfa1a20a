"""Mixtures under normalised random measures, and incremental Bayesian hierarchical clustering."""
