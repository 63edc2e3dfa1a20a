"""Nested hierarchies: trees of fixed depth whose nodes are mixtures over shared components (BHMC, RBHMC)."""
