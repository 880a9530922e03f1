"""Hierarchical shrinkage and the hierarchical mixture (paper 003)."""
