"""Conjugate likelihoods on flat rows of statistics."""
