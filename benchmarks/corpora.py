"""The data: three sets of different shape, each cut into a part to learn from and a part to predict."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from genus.datasets import Dataset, load_dataset

NAMES = ("20news-bydate-raw", "imdb", "arxiv_titles")  # long mails, reviews, many short titles


@dataclass(frozen=True)
class Part:
    """Texts and their labels."""

    texts: list[str]
    labels: list[str]

    @property
    def megabytes(self) -> float:
        return sum(len(text.encode("utf-8", "surrogatepass")) for text in self.texts) / 1e6

    def shuffled(self) -> Part:
        """In a random but fixed order: peers that learn online fail on texts sorted by class.

        All strings are made anew, so that they lie in memory in their order, as strings do that were just read.
        """
        order = np.random.default_rng(0).permutation(len(self.texts)).tolist()
        pairs = [(_copy(self.texts[i]), _copy(self.labels[i])) for i in order]
        return Part([text for text, _ in pairs], [label for _, label in pairs])

    def limited(self, megabytes: float | None) -> Part:
        """The first texts, up to a size."""
        if megabytes is None:
            return self
        ends = np.cumsum([len(text) for text in self.texts])
        n = max(1, int(np.searchsorted(ends, megabytes * 1e6)))
        return Part(self.texts[:n], self.labels[:n])


@dataclass(frozen=True)
class Corpus:
    name: str
    train: Part
    test: Part


def load_corpus(name: str, megabytes: float | None = None) -> Corpus:
    """A data set, split as published, or else after four fifths; each part no longer than some megabytes."""
    if name == "arxiv_titles":  # in order of time, without a published split
        whole = _part(load_dataset(name))
        cut = len(whole.texts) * 4 // 5
        train, test = Part(whole.texts[:cut], whole.labels[:cut]), Part(whole.texts[cut:], whole.labels[cut:])
    else:
        train, test = (_part(load_dataset(name, part)) for part in ("train", "test"))
    return Corpus(name, train.shuffled().limited(megabytes), test.shuffled().limited(megabytes))


def _part(dataset: Dataset) -> Part:
    assert dataset.texts is not None
    return Part(dataset.texts, dataset.labels)


def _copy(string: str) -> str:
    return string.encode("utf-8", "surrogatepass").decode("utf-8", "surrogatepass")
