"""Hidden tree Markov models with a switching parent, and their mixtures (TreeHMM, TreeHMMMixture, ...)."""
