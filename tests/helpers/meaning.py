"""A small table of word vectors: the words of the made-up tickets, and words of like meaning that no ticket has."""

from __future__ import annotations

import numpy as np

from genus.vectors import WordVectors
from helpers.tickets import KINDS

SYNONYMS = {
    "billing": ["bill", "fee", "bank", "euros", "billing"],
    "printer": ["scanner", "copier", "cartridge", "prints"],
    "network": ["internet", "lan", "modem", "network"],
}
DESCRIPTIONS = {"billing": "bank and fee", "printer": "a copier and its cartridge", "network": "the internet, a modem"}
N_DIMENSIONS = 8


def table(seed: int = 0) -> WordVectors:
    """Each kind of ticket has a direction, near which its words lie; other words lie anywhere, near zero."""
    rng = np.random.default_rng(seed)
    words: list[str] = []
    vectors = []
    for i, kind in enumerate(KINDS):
        for word in [*KINDS[kind], *SYNONYMS[kind]]:
            if word not in words:
                words.append(word)
                vectors.append(3 * np.eye(N_DIMENSIONS)[i] + rng.normal(scale=0.7, size=N_DIMENSIONS))
    for word in ["please", "the", "my", "is", "not", "again", "today", "help", "with", "was", "and", "a", "its"]:
        words.append(word)
        vectors.append(rng.normal(scale=0.1, size=N_DIMENSIONS))
    return WordVectors.from_words(words, np.array(vectors, dtype=np.float32), name="tickets")
