"""Runs experiments: cells, workers, and what was measured before."""
