"""Greedy binary trees of rows by Bayesian merge odds, under any likelihood; what several families build on."""
