"""What every section is given: the settings, the data, and a line that says what is going on."""

from __future__ import annotations

import gc
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

from benchmarks.corpora import NAMES, Corpus, load_corpus
from benchmarks.measure import cores
from genus.errors import DataError


@dataclass
class Bench:
    repeat: int = 5
    quick: bool = False
    data_limit: float | None = None  # megabytes of text in each part
    say: Callable[[str], object] = lambda _: None
    given: dict[str, Corpus] | None = None  # instead of the data sets
    absent: dict[str, str] = field(default_factory=dict)
    _loaded: dict[str, Corpus] = field(default_factory=dict)

    @property
    def thread_counts(self) -> list[int]:
        return [1, 2] if len(cores()) > 1 else [1]

    def corpora(self) -> Iterator[Corpus]:
        """Every data set there is; absent ones are remembered."""
        for name in self.given or NAMES:
            corpus = self.corpus(name)
            if corpus is not None:
                yield corpus

    def corpus(self, name: str) -> Corpus | None:
        if self.given is not None:
            return self.given.get(name)
        if name not in self._loaded and name not in self.absent:
            self.say(f"loading {name}")
            try:
                self._loaded[name] = load_corpus(name, self.data_limit)
            except DataError as error:
                self.absent[name] = str(error)
            gc.collect()
            gc.freeze()  # or every collection that a peer's own objects set off would walk the data
        return self._loaded.get(name)

    def largest(self) -> Corpus | None:
        """The set with most documents and classes, or whatever there is."""
        return self.corpus("arxiv_titles") or next(self.corpora(), None)
