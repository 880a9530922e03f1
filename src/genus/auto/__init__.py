"""Automatic model selection."""
