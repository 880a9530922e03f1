"""One module for each paper's tables."""
