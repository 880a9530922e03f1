"""Made-up support tickets."""

from __future__ import annotations

import numpy as np

KINDS = {
    "billing": ["card", "charged", "invoice", "refund", "money", "payment", "account", "balance"],
    "printer": ["printer", "paper", "toner", "jam", "page", "tray", "cable", "ink"],
    "network": ["wifi", "router", "signal", "slow", "connection", "cable", "password", "reset"],
}


def tickets(n=120, seed=0):
    rng = np.random.default_rng(seed)
    common = ["please", "the", "my", "is", "not", "again", "today", "help", "with", "was"]
    texts, labels = [], []
    for i in range(n):
        label = list(KINDS)[i % 3]
        words = [*rng.choice(KINDS[label], 3), *rng.choice(common, 4), rng.choice(KINDS[list(KINDS)[(i + 1) % 3]])]
        texts.append(" ".join(rng.permutation(words)))
        labels.append(label)
    return texts, labels


def tagged(n=150, seed=0):
    """Texts of one to three kinds, with the kinds as labels; some without any."""
    rng = np.random.default_rng(seed)
    texts, labels = [], []
    for _ in range(n):
        kinds = rng.choice(list(KINDS), rng.integers(0, 4), replace=False)
        words = [word for kind in kinds for word in rng.choice(KINDS[kind][:5], 2)]
        texts.append(" ".join([*words, *rng.choice(["please", "the", "my", "today"], 3)]))
        labels.append({str(kind) for kind in kinds})
    return texts, labels
