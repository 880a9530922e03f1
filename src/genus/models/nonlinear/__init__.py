"""Non-linear hierarchical Bayes (paper 004)."""
