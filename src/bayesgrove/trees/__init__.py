"""The tree table, its traversals, cuts, conversions and layout."""
