"""Hierarchical shrinkage and mixture as the paper writes them: dense loops over documents, words and nodes."""

from __future__ import annotations

import numpy as np

ROUNDING = 1e-9


def left(count, taken):
    """What remains of a count; a remainder that is rounding is none."""
    rest = count - taken
    return rest if rest > ROUNDING * count else 0.0


def n_seen(counts):
    """N: the words that occur."""
    return max(int((counts.sum(axis=0) > 0).sum()), 1)


def counted(X, scales):
    """What each document adds to its class: whole multiples of 2**-36."""
    return np.floor(X * np.asarray(scales)[:, np.newaxis] * 2.0**36 + 0.5) / 2.0**36


def class_counts(added, codes, n_classes):
    counts = np.zeros((n_classes, added.shape[1]))
    for d, row in enumerate(added):
        counts[codes[d]] += row
    return counts


def pooled(counts, shares, paths, n_nodes):
    """M_vw: what the classes below each node give it (eq. 6)."""
    nodes = np.zeros((n_nodes, counts.shape[1]))
    for c, path in enumerate(paths):
        for j, v in enumerate(path):
            nodes[v] += counts[c] * shares[c][j]
    return nodes


def moved(counts, nodes, paths, weights, groups, tempering):
    """P(v|c,w) for every class, node of its path and word (eq. 5)."""
    n_words = counts.shape[1]
    shares, n = [], n_seen(counts)
    for c, path in enumerate(paths):
        uniform, *rest = weights[groups[c]]
        likely = np.zeros((len(path), n_words))
        for j, v in enumerate(path):
            if nodes[v].sum() > 0:
                likely[j] = rest[j] * (nodes[v] / nodes[v].sum()) ** tempering
        found = likely / (likely.sum(axis=0) + uniform * (1 / n) ** tempering)
        shares.append(np.where(found > 1e-30, found, 0.0))  # less is none
    return shares


def copies_elsewhere(X, codes, scales, times, paths, d, level):
    """The weight of documents with the same words in other classes below a node of d's path: one of each class.

    A document counts ``times`` over, once at least.
    """
    node, total = paths[codes[d]][level], 0.0
    for c, path in enumerate(paths):
        if c != codes[d] and level < len(path) and path[level] == node:
            same = [e for e in range(len(X)) if codes[e] == c and scales[e] > 0 and (X[e] == X[d]).all()]
            total += scales[same].sum() / times[same].sum() if same else 0.0
    return total


def estimates(X, codes, scales, times, nodes, shares, paths):
    """E_v(d,w): P(w|v) for the nodes of a document's path, without the document, once, and its copies elsewhere."""
    added = counted(X, scales)
    found = []
    for d in range(len(X)):
        path = paths[codes[d]]
        held_out = np.zeros((len(path), X.shape[1]))
        for j, v in enumerate(path):
            copies = copies_elsewhere(X, codes, scales, times, paths, d, j) / scales[d] if scales[d] > 0 else 0
            taken = added[d] * (1 / times[d] + copies) * shares[codes[d]][j]
            total = left(nodes[v].sum(), taken.sum())
            for w in range(X.shape[1]):
                if total > 0:
                    held_out[j, w] = left(nodes[v, w], taken[w]) / total
        found.append(held_out)
    return found


def better_weights(added, codes, held_out, node_weights, groups):
    """One EM step for P(v|c) (eq. 7)."""
    sums = [np.zeros(len(w)) for w in node_weights]
    for d, row in enumerate(added):
        now = node_weights[groups[codes[d]]]
        for w in np.flatnonzero(row):
            parts = now * np.append(1 / n_seen(added), held_out[d][:, w])
            sums[groups[codes[d]]] += row[w] * parts / parts.sum()
    result = []
    for old, new in zip(node_weights, sums, strict=True):
        if new.sum() > 0:
            new[0] = max(new[0], 1e-9 * new.sum())
        result.append(new / new.sum() if new.sum() > 0 else old)
    return result


def fit(X, codes, scales, times, paths, groups, n_nodes, n_iterations, n_weight_steps, tempering=1.0):
    """Weights by group (the uniform distribution's first, then from the root down) and node counts.

    ``paths`` are the nodes of each class, the root first.
    """
    n_classes = len(paths)
    lengths = {groups[c]: len(path) + 1 for c, path in enumerate(paths)}
    node_weights = [np.full(lengths[g], 1 / lengths[g]) for g in range(len(lengths))]
    added = counted(X, scales)
    counts = class_counts(added, codes, n_classes)
    shares = [np.ones((len(path), X.shape[1])) for path in paths]
    for iteration in range(n_iterations + 1):
        if iteration > 0:
            shares = moved(counts, nodes, paths, node_weights, groups, tempering)  # noqa: F821 (set below)
        nodes = pooled(counts, shares, paths, n_nodes)
        held_out = estimates(X, codes, scales, times, nodes, shares, paths)
        for _ in range(n_weight_steps):
            node_weights = better_weights(added, codes, held_out, node_weights, groups)
    return node_weights, nodes


def word_probabilities(node_weights, nodes, paths, groups, seen):
    """P(w|c) (eq. 1); none for words never seen. A node without counts leaves its weight to the others."""
    p = np.zeros((len(paths), nodes.shape[1]))
    for c, path in enumerate(paths):
        weights = node_weights[groups[c]] * np.append(True, nodes[path].sum(axis=1) > 0)
        weights = weights / weights.sum()
        p[c, seen] = weights[0] / max(seen.sum(), 1)
        for weight, v in zip(weights[1:], path, strict=True):
            if weight > 0:
                p[c] += weight * nodes[v] / nodes[v].sum()
    return p
