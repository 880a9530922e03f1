"""Peers and genus side by side in one run: ``python -m benchmarks``. See README.md in this folder."""
