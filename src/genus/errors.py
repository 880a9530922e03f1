"""Errors that the user, not the program, can fix."""

from __future__ import annotations


class GenusError(Exception):
    """An error whose message is a complete one-line answer: what is wrong, where, and what to do."""


class ModelFileError(GenusError):
    """A model file cannot be written, or is damaged or unsupported."""


class DataError(GenusError, ValueError):
    """The user's data cannot be used as they are."""
