"""Reports made from results."""
