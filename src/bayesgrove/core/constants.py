"""Sentinels and status codes shared by kernels and the Python around them."""

NULL = -1
"""No node, no parent, no datum."""

OK = 0
NOT_FINITE = 1
NEEDS_CAPACITY = 2
"""Integer status codes: kernels return them, Python turns them into exceptions."""
