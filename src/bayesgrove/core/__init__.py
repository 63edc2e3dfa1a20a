"""Ground floor: kernels, dispatch, randomness, errors, provenance, tables."""
