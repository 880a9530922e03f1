"""Exact posteriors over training documents, beside a bare product and searches for neighbours."""

from __future__ import annotations

import resource
from pathlib import Path
from typing import Any

import bm25s
import numpy as np
from scipy import sparse
from sklearn.neighbors import KNeighborsClassifier

from benchmarks.bench import Bench
from benchmarks.corpora import Corpus
from benchmarks.measure import Entry, Race, race, significant
from benchmarks.report import Table, Target
from genus import TiedDocumentMixture, Vectorizer
from genus.base.inverted_index import InvertedIndex
from genus.experiments.harness.table import Plot
from genus.experiments.pages.plots import draw
from genus.report.page import _frame

PRODUCT, NEIGHBORS, BM25 = "scipy product", "scikit-learn KNN, cosine", "bm25s with numba, top 10"
EXACT, TWO = "exact, 1", "exact, 2"
INDEXING = "indexing, 1"
TARGETS = {
    "20news-bydate-raw": {PRODUCT: Target(2), NEIGHBORS: Target(2), TWO: Target(1.8)},
    "arxiv_titles": {PRODUCT: Target(3), NEIGHBORS: Target(10), BM25: Target(1), TWO: Target(1.8)},
}
GROWTH = Path(__file__).with_name("results") / "growth.html"
SPEED = Target(20, " M entries/s")
N_QUERIES = 1000


def run(bench: Bench) -> Table:
    table = Table(
        "document_mixture",
        "TiedDocumentMixture: posteriors of queries, from counts",
        ("data", "system", "ms a query", "ratio", "against"),
        "Peers on one core. A product and a search give less: no posterior over classes.",
    )
    for name in TARGETS:
        corpus = bench.corpus(name)
        if corpus is not None:
            _compare(bench, table, corpus)
    return table


def _compare(bench: Bench, table: Table, corpus: Corpus) -> None:
    bench.say(f"document mixture of {corpus.name}: counting")
    vectorizer = Vectorizer()
    X, y = vectorizer.fit_transform(corpus.train.texts), np.array(corpus.train.labels)
    texts = corpus.test.texts[:N_QUERIES]
    n = len(texts)
    queries = vectorizer.transform(texts)
    exact, two = TiedDocumentMixture(n_jobs=1), TiedDocumentMixture(n_jobs=2)
    _index(bench, table, corpus.name, exact.fit(X, y))
    for model in (two.fit(X, y), exact):
        model.predict_log_proba(queries[:1])
    transposed = X.T.tocsr()
    nearest = KNeighborsClassifier(metric="cosine", algorithm="brute", n_jobs=1).fit(X, y)
    words = bm25s.BM25(backend="numba")
    words.index(bm25s.tokenize(corpus.train.texts, stopwords=[], show_progress=False), show_progress=False)
    asked = bm25s.tokenize(texts, stopwords=[], show_progress=False, return_ids=False)
    bench.say(f"document mixture of {corpus.name}: queries")
    entries = {
        PRODUCT: Entry(lambda: queries @ transposed),
        NEIGHBORS: Entry(lambda: nearest.predict(queries)),
        BM25: Entry(lambda: words.retrieve(asked, k=10, n_threads=1, show_progress=False)),
        EXACT: Entry(lambda: exact.predict_log_proba(queries)),
    }
    if len(bench.thread_counts) > 1:
        entries[TWO] = Entry(lambda: two.predict_log_proba(queries), 2)
    timed = race(entries, bench.repeat)
    targets = TARGETS[corpus.name]
    for peer in (PRODUCT, NEIGHBORS, BM25):
        _row(table, corpus.name, timed, n, EXACT, peer, targets.get(peer))
    if TWO in timed.seconds:
        _row(table, corpus.name, timed, n, TWO, EXACT, targets.get(TWO))


def _index(bench: Bench, table: Table, data: str, model: TiedDocumentMixture) -> None:
    documents = model._documents
    timed = race({INDEXING: Entry(lambda: InvertedIndex.from_documents(documents, 1))}, bench.repeat)
    speed = len(documents.rows.indices) / timed.median(INDEXING) / 1e6
    table.add(
        (data, INDEXING, "", f"{speed:.1f} M entries/s", ""),
        {"data": data, "system": "indexing", "million_entries_per_second": speed},
        speed,
        SPEED if data == "arxiv_titles" else None,
    )


def _row(table: Table, data: str, timed: Race, n: int, ours: str, peer: str, target: Target | None) -> None:
    ratio = timed.ratio(peer, ours)
    ms = 1e3 * timed.median(ours) / n
    against = f"{peer} ({significant(1e3 * timed.median(peer) / n)} ms)"
    record = {"data": data, "system": ours, "ms": ms, "ratio": ratio, "against": peer}
    table.add((data, ours, significant(ms), str(ratio), against), record, ratio.median, target)


def growth(bench: Bench) -> Table:
    """The cost of a query by the number of documents."""
    table = Table(
        "growth",
        "TiedDocumentMixture: the cost of a query as the collection grows, one thread",
        ("data", "documents", "ms a query", "postings", "ns a posting", "index MB"),
        "Postings: of the query's words, in all documents.",
    )
    corpus = bench.corpus("arxiv_titles")
    if corpus is None:
        return table
    bench.say("growth: counting")
    texts = [*corpus.train.texts, *corpus.test.texts]
    labels = np.array([*corpus.train.labels, *corpus.test.labels])
    counts = Vectorizer().fit_transform(texts)
    queries = counts[-300:]
    sizes = [n for n in (10_000, 30_000, 100_000, 300_000) if n < len(texts)]
    for n in (*sizes, len(texts)):
        bench.say(f"growth: {n} documents")
        X = sparse.csr_array(counts[:n])
        model = TiedDocumentMixture(n_jobs=1).fit(X, labels[:n])
        model.predict_log_proba(queries[:1])
        timed = race({EXACT: Entry(lambda m=model: m.predict_log_proba(queries))}, bench.repeat)  # type: ignore[misc]
        ms = 1e3 * timed.median(EXACT) / queries.shape[0]
        touched = float(((queries > 0) @ np.bincount(X.indices, minlength=X.shape[1])).mean())
        memory = sum(array.nbytes for array in _arrays(model)) / 1e6
        cells = (corpus.name, str(n), significant(ms), f"{touched:.0f}", significant(1e6 * ms / touched))
        table.add((*cells, f"{memory:.0f}"), {"documents": n, "ms": ms, "postings": touched, "index_mb": memory})
    _draw_growth([(record["postings"], record["ms"]) for record in table.records])
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
    table.note += f" Peak memory of the whole run, texts included: {peak:.2f} GiB."
    return table


def _draw_growth(points: list[tuple[float, float]]) -> None:
    """results/growth.html: milliseconds by postings touched, beside the straight line through the last point."""
    most, slowest = points[-1]
    lines = {"a query": points, "in proportion": [(x, slowest * x / most) for x, _ in points]}
    plot = Plot("The cost of a query", "arxiv_titles, one thread", "postings", "ms", lines, logarithmic=True)
    GROWTH.parent.mkdir(exist_ok=True)
    GROWTH.write_text(_frame(plot.title, f"<h1>{plot.title}</h1><p>{plot.note}</p>{draw(plot)}"), encoding="utf-8")


def _arrays(model: TiedDocumentMixture) -> list[np.ndarray[Any, Any]]:
    parts = (model._index, model._parameters)
    return [value for part in parts for value in vars(part).values() if isinstance(value, np.ndarray)]
