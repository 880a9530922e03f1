"""The relevance-based topic model (paper 001)."""
