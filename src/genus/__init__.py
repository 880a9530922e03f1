"""genus: generative text classification."""

__version__ = "0.1.0"
