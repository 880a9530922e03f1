"""Texts with their words marked: about the class, background, or the text's own. See `genus.models.relevance`."""

from __future__ import annotations

import html
import re
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, Self

import numpy as np

from genus.base.arrays import Float64, Int32, Int64
from genus.base.labels import Labels
from genus.text.vectorizer import Vectorizer

if TYPE_CHECKING:
    from rich.console import Console, ConsoleOptions, RenderResult
    from rich.text import Text

    from genus.base.protocol import Label

_LIKELY = 0.5  # of its class's median: a text with less of it may have a wrong label
_STYLES = {"class": "bold green", "own": "magenta", "background": "dim", "unknown": "dim italic"}
_COLOURS = {"class": "#2a9d5c", "own": "#a05cc8"}
_BRACKETS = {"class": "[]", "own": "{}"}  # where there are no colours


@dataclass(frozen=True)
class Span:
    """A word of a text, ``text[begin:end]``, and the probabilities of where it comes from: they sum to one.

    All are zero for a word that was not seen in training.
    """

    begin: int
    end: int
    relevant: float
    background: float
    own: float

    @property
    def kind(self) -> str:
        """The most probable: "class", "background" or "own"; "unknown" for a word not seen in training."""
        best = max(self.relevant, self.background, self.own)
        if best == 0:
            return "unknown"
        return "class" if best == self.relevant else "background" if best == self.background else "own"


@dataclass(frozen=True)
class MarkedText:
    """A text, and for each of its words whether it is about the label.

    Print it, show it in a notebook, or take `to_dict()`. ``relevant``, ``background`` and ``own`` are the shares of its
    known words, counted as often as they occur.
    """

    text: str
    label: Label
    spans: tuple[Span, ...]
    relevant: float
    background: float
    own: float

    def to_dict(self) -> dict[str, object]:
        """Plain values, ready for JSON."""
        return {
            "label": self.label.item() if hasattr(self.label, "item") else self.label,
            "relevant": self.relevant,
            "background": self.background,
            "own": self.own,
            "spans": [
                {
                    "begin": span.begin,
                    "end": span.end,
                    "text": self.text[span.begin : span.end],
                    "kind": span.kind,
                    "relevant": span.relevant,
                    "background": span.background,
                    "own": span.own,
                }
                for span in self.spans
            ],
        }

    def shortened(self, n: int) -> MarkedText:
        """The first n characters."""
        if len(self.text) <= n:
            return self
        spans = tuple(span for span in self.spans if span.end <= n)
        return MarkedText(self.text[:n] + "…", self.label, spans, self.relevant, self.background, self.own)

    def _pieces(self) -> Iterator[tuple[str, Span | None]]:
        """The text in parts: words with their spans, and what is between them."""
        at = 0
        for span in self.spans:
            if span.begin > at:
                yield self.text[at : span.begin], None
            yield self.text[span.begin : span.end], span
            at = span.end
        if at < len(self.text):
            yield self.text[at:], None

    def _summary(self) -> str:
        return f"{self.relevant:.0%} about {self.label}, {self.background:.0%} background, {self.own:.0%} its own"

    def __str__(self) -> str:
        words = (piece if span is None else _bracketed(piece, span.kind) for piece, span in self._pieces())
        return f"{self._summary()}  ([about it] background {{its own}})\n{''.join(words)}"

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        from rich.text import Text

        if console.no_color or console.color_system is None:
            yield Text(str(self))
            return
        legend = (("about it", _STYLES["class"]), " ", ("background", "dim"), " ", ("its own", _STYLES["own"]))
        yield Text.assemble(f"{self._summary()}  (", *legend, ")")
        yield self.coloured()

    def coloured(self) -> Text:
        """The text in colours, for a terminal."""
        from rich.text import Text

        return Text.assemble(*((piece, "" if span is None else _STYLES[span.kind]) for piece, span in self._pieces()))

    def _repr_html_(self) -> str:
        return f"<p>{html.escape(self._summary())}</p><p style='line-height:1.7'>{self.html()}</p>"

    def html(self) -> str:
        """The text with its words shaded, the more probable the darker."""
        return "".join(
            html.escape(_printable(piece)) if span is None else _shaded(_printable(piece), span)
            for piece, span in self._pieces()
        )


def mark_spans(text: str, vectorizer: Vectorizer, columns: Int32, shares: Float64) -> tuple[Span, ...]:
    """The words of a text with the marks of their features.

    ``shares`` (n_columns, 3) holds the probabilities of background, class and own topic of the text's ``columns``. A
    word is marked by the features that it has by itself, their mean where there are several; one without any, such
    as a stop word, is not marked.
    """
    words = [match.span() for match in _word_pattern(vectorizer).finditer(text)]
    distinct = {surface: i for i, surface in enumerate(dict.fromkeys(text[begin:end] for begin, end in words))}
    rows, unknown = vectorizer._transform_rows(list(distinct))
    place = {column: i for i, column in enumerate(columns.tolist())}
    marks: list[tuple[float, float, float] | None] = []
    for (begin, end), n_unknown in zip(pairwise(rows.indptr.tolist()), unknown.tolist(), strict=True):
        found = [place[column] for column in rows.indices[begin:end].tolist() if column in place]
        if found:
            background, relevant, own = shares[found].mean(axis=0).tolist()
            marks.append((relevant, background, own))
        else:
            marks.append((0.0, 0.0, 0.0) if n_unknown else None)
    spans = ((begin, end, marks[distinct[text[begin:end]]]) for begin, end in words)
    return tuple(Span(begin, end, *mark) for begin, end, mark in spans if mark is not None)


def _word_pattern(vectorizer: Vectorizer) -> re.Pattern[str]:
    """What the vectorizer takes for a word, where it says so by a pattern."""
    says = vectorizer.analyzer == "word" and vectorizer.tokenizer is None
    pattern = re.compile(vectorizer.token_pattern) if says else re.compile(r"\w+")
    return pattern if pattern.groups == 0 else re.compile(r"\w+")


def _bracketed(word: str, kind: str) -> str:
    return f"{_BRACKETS[kind][0]}{word}{_BRACKETS[kind][1]}" if kind in _BRACKETS else word


def _shaded(word: str, span: Span) -> str:
    title = f"about it {span.relevant:.2f}, background {span.background:.2f}, own {span.own:.2f}"
    escaped = html.escape(word)
    if span.kind not in _COLOURS:
        title = "not seen in training" if span.kind == "unknown" else title
        return f"<span style='opacity:.6' title='{title}'>{escaped}</span>"
    alpha = round(255 * 0.6 * max(span.relevant, span.own))
    return (
        f"<span style='background:{_COLOURS[span.kind]}{alpha:02x};border-radius:3px' title='{title}'>{escaped}</span>"
    )


def _printable(text: str) -> str:
    return "".join(c if c.isprintable() or c in "\n\t " else "\N{REPLACEMENT CHARACTER}" for c in text)


@dataclass(frozen=True)
class Review:
    """Labelled texts by how much of each is about its label.

    ``relevance`` is the share of each text's known words that is about its label, ``predicted`` what the model takes it
    for, ``tokens`` (n_texts, 3) the words by background, class and own.
    """

    labels: Labels
    predicted: Labels
    relevance: Float64
    tokens: Float64

    @classmethod
    def of_tokens(cls, labels: Labels, predicted: Labels, tokens: Float64) -> Self:
        known = tokens.sum(axis=1)
        return cls(labels, predicted, tokens[:, 1] / np.where(known > 0, known, 1), tokens)

    def of(self, label: Label) -> Int64:
        """The numbers of the texts with this label, the most relevant first."""
        found = np.flatnonzero(self.labels == label)
        return found[np.argsort(-self.relevance[found], kind="stable")]

    def medians(self) -> dict[Label, float]:
        """The median relevance of each label's texts."""
        return {label: float(np.median(self.relevance[self.of(label)])) for label in np.unique(self.labels).tolist()}

    def suspects(self) -> Int64:
        """The numbers of texts whose label may be wrong, the most suspect first.

        These have less than half as much about their label as its other texts (by the median), and the model takes them
        for something else. Texts without a known word are not among them.
        """
        medians = self.medians()
        usual = np.array([medians[label] for label in self.labels.tolist()])
        ratio = np.divide(self.relevance, usual, out=np.ones(len(usual)), where=usual > 0)
        found = np.flatnonzero((ratio < _LIKELY) & (self.predicted != self.labels) & self.tokens.any(axis=1))
        return found[np.argsort(ratio[found], kind="stable")]
