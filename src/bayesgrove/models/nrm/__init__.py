"""Mixtures under normalised random measures: Dirichlet process, NGGP, normalised inverse Gaussian."""
