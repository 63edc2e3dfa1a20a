"""One folder per family; families do not import each other."""
