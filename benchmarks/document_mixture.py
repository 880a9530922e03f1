"""Exact and bounded posteriors of the Tied Document Mixture beside a bare product and a nearest-neighbour search.

    python -m benchmarks.document_mixture

Needs the data folder (GENUS_DATA). Every figure is the median of three passes over the same queries, in one run.
"""

from __future__ import annotations

import resource
import time
from collections.abc import Callable
from statistics import median
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.neighbors import KNeighborsClassifier
from threadpoolctl import threadpool_limits

from genus import TiedDocumentMixture, Vectorizer
from genus._inverted_index import InvertedIndex
from genus.datasets import load_dataset


def ms_per_query(work: Callable[[], Any], n: int) -> float:
    def once() -> float:
        start = time.perf_counter()
        work()
        return (time.perf_counter() - start) / n * 1e3

    return median(once() for _ in range(3))


def newsgroups() -> tuple[Any, Any, Any]:
    train, test = load_dataset("20news-bydate-raw", "train"), load_dataset("20news-bydate-raw", "test")
    vectorizer = Vectorizer(dtype=np.float64)
    return vectorizer.fit_transform(train.texts), np.array(train.labels), vectorizer.transform(test.texts)


def titles(n: int = 565_000) -> tuple[Any, Any, Any]:
    data = load_dataset("arxiv_titles", "all")
    counts = Vectorizer(dtype=np.float64).fit_transform(data.texts)
    labels = np.array([label[0] if isinstance(label, list) else label for label in data.labels])
    return counts[:n], labels[:n], counts[n:]


def compare(name: str, X: Any, y: Any, queries: Any, n_slow: int) -> None:
    """Peers get the first `n_slow` queries."""
    few = queries[:n_slow]
    transposed = X.T.tocsr()
    start = time.perf_counter()
    clf = TiedDocumentMixture(n_jobs=1).fit(X, y)
    fitted = time.perf_counter() - start
    start = time.perf_counter()
    InvertedIndex.of(clf._documents)
    indexed = time.perf_counter() - start
    nearest = KNeighborsClassifier(metric="cosine", algorithm="brute", n_jobs=1).fit(X, y)
    clf.predict_log_proba(few[:1])
    with threadpool_limits(1):
        product = ms_per_query(lambda: few @ transposed, few.shape[0])
        knn = ms_per_query(lambda: nearest.predict(few), few.shape[0])
        exact = ms_per_query(lambda: clf.predict_log_proba(queries), queries.shape[0])
        clf.n_jobs = 2
        two = ms_per_query(lambda: clf.predict_log_proba(queries), queries.shape[0])
        clf.n_jobs, clf.tolerance = 1, 1e-3
        near = ms_per_query(lambda: clf.predict_log_proba(queries), queries.shape[0])
    print(f"\n{name}: {X.shape[0]} documents, {X.nnz} entries; fitted at {X.nnz / fitted / 1e6:.1f} million entries/s")
    print(f"  indexed at {X.nnz / indexed / 1e6:.1f} million entries/s")
    for what, value in (
        ("scipy product", product),
        ("scikit-learn KNN, cosine", knn),
        ("genus, exact, 1 thread", exact),
        ("genus, exact, 2 threads", two),
        ("genus, tolerance 1e-3, 1 thread", near),
    ):
        print(f"  {what:32} {value:8.3f} ms/query   {value / exact:6.2f} x genus exact")


def growth(X: Any, y: Any, queries: Any) -> None:
    print("\ncost by number of documents (arxiv_titles)")
    for n in (10_000, 30_000, 100_000, 300_000, X.shape[0]):
        part = sparse.csr_array(X[:n])
        touched = (queries > 0).astype(np.float64) @ np.bincount(part.indices, minlength=part.shape[1])
        clf = TiedDocumentMixture(n_jobs=1).fit(part, y[:n])
        clf.predict_log_proba(queries[:1])
        cost = ms_per_query(lambda: clf.predict_log_proba(queries), queries.shape[0])  # noqa: B023 (called at once)
        per_posting = 1e6 * cost / touched.mean()
        print(f"  {n:7} documents  {cost:7.3f} ms/query  {touched.mean():9.0f} postings  {per_posting:5.2f} ns each")


def run() -> None:
    X, y, queries = newsgroups()
    compare("20news-bydate-raw", X, y, queries[:2000], 2000)
    X, y, queries = titles()
    compare("arxiv_titles", X, y, queries[:2000], 60)
    growth(X, y, queries[:500])
    print(f"\npeak memory {resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20:.2f} GiB")


if __name__ == "__main__":
    run()
