"""Measure tables of word vectors by the accuracy of logistic regression with few examples per class.

    python tools/evaluate_vectors.py english.safetensors [MORE ...] [--data FOLDER] [--sizes 5 10 20 50] [--draws 3]

Each draw takes the same number of texts of each class; accuracies are means over draws, on at most 1,000 test texts.
TF-IDF with a linear SVM is always measured along.
Requires scikit-learn.
"""

from __future__ import annotations

import argparse
import json
import lzma
import os
import random
import re
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

SIZES = (5, 10, 20, 50)
N_TEST = 1000
LONGEST = 2000  # characters of a text that are used
# Data sets, whether their training texts may have given snippets (see distill_corpus.py), and the files.
SETS = {
    "trec": "trec-questions",
    "sms_spam": "sms_spam",
    "ag_news": "ag_news",
    "arxiv_titles": "arxiv_titles",
    "imdb": "imdb",
    "20news": "20news-bydate-raw",
    "sentence_polarity": "sentence_polarity",
    "r8": "r8-all-terms",
    "spamassassin": "spamassassin",
    "cora": "cora-abstracts",
    "dbpedia": "dbpedia",
    "yelp": "yelp",
}
MOST_CLASSES = 30


@dataclass(frozen=True)
class Task:
    """Texts to draw training examples from, and texts to test on."""

    pool: list[str]
    pool_labels: np.ndarray
    test: list[str]
    test_labels: np.ndarray

    def draws(self, size: int, n: int) -> Iterator[np.ndarray]:
        """Rows of the pool: ``size`` texts of each class."""
        classes = np.unique(self.pool_labels)
        for seed in range(n):
            rng = np.random.default_rng(seed)
            order = rng.permutation(len(self.pool))
            yield np.concatenate([order[self.pool_labels[order] == c][:size] for c in classes])


def rows(file: Path) -> list[tuple[str, str]]:
    with lzma.open(file, "rt", encoding="utf-8") as lines:
        found = [json.loads(line) for line in lines]
    return [(body(row["text"]), str(row["label"])) for row in found]


def body(text: str) -> str:
    """The text without the headers of a mail or post, cut at LONGEST characters."""
    headers, _, rest = text.partition("\n\n")
    if re.match(r"(From |[A-Za-z-]+: )", text) and rest:
        text = rest
    return re.sub(r"<br ?/?>", " ", text)[:LONGEST]


def read_task(folder: Path, name: str) -> Task:
    rng = random.Random(0)
    if (folder / "train.jsonl.xz").exists():
        pool, test = rows(folder / "train.jsonl.xz"), rows(folder / "test.jsonl.xz")
    else:
        all_rows = rows(next(folder / f for f in ("all.jsonl.xz", "test.jsonl.xz") if (folder / f).exists()))
        rng.shuffle(all_rows)
        half = max(len(all_rows) // 2, len(all_rows) - 20_000)
        pool, test = all_rows[:half], all_rows[half:]
    counts = Counter(label for _, label in pool)
    kept = {label for label, n in counts.most_common(MOST_CLASSES) if n >= 60} if name != "r8" else set(counts)
    pool, test = ([row for row in part if row[1] in kept and row[0].strip()] for part in (pool, test))
    rng.shuffle(pool)
    rng.shuffle(test)
    taken: Counter[str] = Counter()
    small = []
    for row in pool:  # three times the largest draw is enough
        taken[row[1]] += 1
        if taken[row[1]] <= 3 * max(SIZES) // (1 + (len(kept) > 10)):
            small.append(row)
    test = test[:N_TEST]
    return Task(
        [text for text, _ in small],
        np.array([label for _, label in small]),
        [text for text, _ in test],
        np.array([label for _, label in test]),
    )


def accuracy(task: Task, pool: np.ndarray, test: np.ndarray, size: int, draws: int, classifier: Callable) -> float:
    scores = []
    for chosen in task.draws(size, draws):
        model = classifier().fit(pool[chosen], task.pool_labels[chosen])
        scores.append(float(np.mean(model.predict(test) == task.test_labels)))
    return 100 * float(np.mean(scores))


def logistic() -> object:
    from sklearn.linear_model import LogisticRegression

    return LogisticRegression(C=10, max_iter=300)


def few_shot(
    tasks: dict[str, Task], embed: Callable[[str, Sequence[str]], np.ndarray], sizes: Sequence[int], draws: int
) -> dict[str, list[float]]:
    """Accuracies for each task and size of logistic regression on the vectors of ``embed(task, texts)``."""
    table = {}
    for name, task in tasks.items():
        pool, test = embed(name, task.pool), embed(name, task.test)
        table[name] = [accuracy(task, pool, test, size, draws, logistic) for size in sizes]
    return table


def tasks_in(data: Sequence[Path]) -> dict[str, Task]:
    found = {}
    for name, folder in SETS.items():
        path = next((part / folder for part in data if (part / folder).is_dir()), None)
        if path is not None:
            found[name] = read_task(path, name)
    return found
