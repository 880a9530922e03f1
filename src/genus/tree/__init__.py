"""Trees of classes."""
