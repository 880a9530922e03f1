"""What genus raises when the user, not the program, has to act."""

from __future__ import annotations


class GenusError(Exception):
    """An error whose message is a complete one-line answer: what is wrong, where, and what to do."""


class ModelFileError(GenusError):
    """A model file cannot be written, or cannot be trusted."""


class DataError(GenusError, ValueError):
    """Data given by the user cannot be used as it is."""
