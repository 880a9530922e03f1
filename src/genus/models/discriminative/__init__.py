"""Discriminative Multinomial Naive Bayes (paper 002)."""
