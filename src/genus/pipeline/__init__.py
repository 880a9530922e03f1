"""Vectorizer, weighting and model as one classifier of texts, and pools of them."""
