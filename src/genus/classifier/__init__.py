"""The library's top: `TextClassifier`."""
