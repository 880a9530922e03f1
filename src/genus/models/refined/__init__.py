"""Naive Bayes corrected by the training documents that it gets wrong."""
