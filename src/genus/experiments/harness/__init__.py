"""Runs experiments: cells (one system on one data set), worker processes, and stored results."""
