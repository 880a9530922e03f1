"""Why a text was given its class: contributions of words that add up to the log odds shown."""

from __future__ import annotations

import html
import re
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass, field, replace
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rich.console import Console, ConsoleOptions, RenderResult

    from genus.base.protocol import Label


@dataclass(frozen=True)
class WordEvidence:
    """What one word of the text says: its count, and count times log P(word | label) / P(word | against)."""

    word: str
    count: float
    contribution: float
    sources: tuple[float, float, float] | None = None  # shares of the documents, the class and the background
    levels: dict[str, float] | None = None  # shares of the nodes of a tree of classes, the largest first
    like: tuple[str, ...] = ()  # of a word known only by its vector: the nearest words of training texts

    def plus(self, contribution: float) -> WordEvidence:
        """The same word with more to say."""
        return replace(self, contribution=self.contribution + contribution, sources=None)

    def to_dict(self) -> dict[str, object]:
        values: dict[str, object] = {"word": self.word, "count": self.count, "contribution": self.contribution}
        if self.sources is not None:
            values["sources"] = dict(zip(("documents", "class", "background"), self.sources, strict=True))
        if self.levels is not None:
            values["levels"] = self.levels
        if self.like:
            values["like"] = list(self.like)
        return values


@dataclass(frozen=True)
class DocumentEvidence:
    """A training document (its number, counted from 0 as learned) and its share of the text's probability."""

    number: int
    label: Label
    share: float


@dataclass(frozen=True)
class NodeEvidence:
    """A hidden node of the label's class, counted from 1: its share of the text, and its distinctive words."""

    number: int
    share: float
    words: tuple[str, ...]


@dataclass(frozen=True)
class HiddenNode:
    """A kind of document within a class.

    ``share`` is its part of the class's documents, ``words`` separate it best from the other kinds of its class, and
    ``nearest`` are the training documents (counted from 0 as learned) most typical of it.
    """

    label: Label
    number: int  # from 1
    share: float
    words: tuple[tuple[str, float], ...]
    nearest: tuple[int, ...]


@dataclass(frozen=True)
class Explanation:
    """The evidence for `label` and against the class that came next.

    The log odds are exact: `prior + sum(w.contribution for w in words) + sum(terms.values()) == log_odds`, the
    logarithm of P(label | text) / P(against | text). Positive contributions are evidence for the label.
    For a class that is a mixture of its training documents or of hidden nodes, a word's contribution is the average
    over these, each with its share of the class's probability; the term "choice of documents" (or of nodes) is then
    the difference between the two classes in how far the text singles out a few of them.
    Print it, show it in a notebook, or take `to_dict()`.
    """

    text: str
    label: Label
    probability: float
    against: Label
    log_odds: float
    prior: float
    words: tuple[WordEvidence, ...]  # the strongest first
    n_unknown: int  # words of the text that were never seen in training
    n_words: int  # words of the text
    terms: Mapping[str, float] = field(default_factory=dict)  # what the model adds to prior and words, by name
    documents: tuple[DocumentEvidence, ...] = ()  # those that carry most of the probability, if the model knows
    nodes: tuple[NodeEvidence, ...] = ()  # of the label's class, the likeliest first, if it has several
    typicality: float | None = None  # a p-value: the share of held-out texts that look no more familiar, if known

    @property
    def remainder(self) -> float:
        """The sum of `terms`."""
        return sum(self.terms.values())

    def to_dict(self) -> dict[str, object]:
        """Plain values, ready for JSON."""
        values = {
            "text": self.text,
            "label": _plain(self.label),
            "probability": self.probability,
            "against": _plain(self.against),
            "log_odds": self.log_odds,
            "prior": self.prior,
            "words": [w.to_dict() for w in self.words],
            "n_unknown": self.n_unknown,
            "n_words": self.n_words,
        }
        if self.typicality is not None:
            values["typicality"] = self.typicality
        if self.terms:
            values |= {"terms": dict(self.terms), "remainder": self.remainder}
        if self.documents:
            values["documents"] = [asdict(m) | {"label": _plain(m.label)} for m in self.documents]
        if self.nodes:
            values["nodes"] = [asdict(node) for node in self.nodes]
        return values

    def __str__(self) -> str:
        return "\n".join(self._lines())

    def _lines(self, n: int = 10) -> Iterator[str]:
        yield f"{self.label}  (probability {self.probability:.3f}; next: {self.against})"
        lines = [(w.word, w.contribution, f"  x{_number(w.count)}{_from(w)}") for w in self._shown(n)]
        lines += [(name, value, "") for name, value in self._sums(n)]
        width = max(len(name) for name, _, _ in lines)
        for name, value, count in lines:
            yield f"  {name:<{width}}  {value:+8.3f}{count}"
        if self.n_unknown:
            yield f"  {self._unknown_line()}"
        for line in self._source_lines():
            yield f"  {line}"

    def _unknown_line(self) -> str:
        return f"{self.n_unknown} of {self.n_words} words {_is_are(self.n_unknown)} not in the vocabulary (ignored)"

    def _source_lines(self) -> list[str]:
        """How far the answer can be trusted and what carries it, where the model knows."""
        lines = [self._typicality_line()] if self._is_atypical else []
        lines += [self._document_line()] if self.documents else []
        return [*lines, self._node_line()] if self.nodes else lines

    def _node_line(self) -> str:
        kinds = (f"{node.number} ({', '.join(node.words)}; {node.share:.3f})" for node in self.nodes)
        return f"hidden nodes of {self.label}: {', '.join(kinds)}"

    @property
    def _is_atypical(self) -> bool:
        return self.typicality is not None and self.typicality < 0.05

    def _typicality_line(self) -> str:
        return f"may belong to none of the classes: typicality {self.typicality or 0.0:.3f} (a p-value)"

    def _document_line(self) -> str:
        shares = (f"{m.number} ({m.label}, {m.share:.3f})" for m in self.documents)
        return f"nearest training documents: {', '.join(shares)}"

    def _shown(self, n: int) -> tuple[WordEvidence, ...]:
        return self.words[:n]

    def _sums(self, n: int) -> list[tuple[str, float]]:
        """The lines below the words: what was not shown, the prior, and the total that all add up to."""
        sums = [("(prior)", self.prior), ("= log odds", self.log_odds)]
        if len(self.words) > n:
            rest = sum(w.contribution for w in self.words[n:])
            sums.insert(0, (f"({len(self.words) - n} more)", rest))
        sums[-2:-2] = [(f"({name})", value) for name, value in self.terms.items()]
        return sums

    # ------------------------------------------------------------------ terminal

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        from rich.table import Table
        from rich.text import Text

        n = 10
        yield Text.assemble(
            (str(self.label), "bold green"),
            f"  probability {self.probability:.3f}",
            (f"   next: {self.against}", "dim"),
        )
        shown = self._shown(n)
        largest = max((abs(w.contribution) for w in shown), default=1.0) or 1.0
        table = Table(box=None, show_header=False, padding=(0, 1), pad_edge=False)
        table.add_column(justify="right")
        table.add_column(justify="right")
        table.add_column()
        for w in shown:
            bar = "█" * round(20 * abs(w.contribution) / largest)
            style = "green" if w.contribution >= 0 else "red"
            label = Text(w.word) if w.count == 1 else Text.assemble(w.word, (f" x{_number(w.count)}", "dim"))
            bars = Text.assemble((bar, style), (_from(w), "dim"))
            table.add_row(label, Text(f"{w.contribution:+.2f}", style=style), bars)
        for name, value in self._sums(n):
            table.add_row(Text(name, style="dim"), Text(f"{value:+.2f}", style="dim"), "")
        yield table
        if self.n_unknown:
            yield Text(self._unknown_line(), style="dim")
        for line in self._source_lines():
            yield Text(line, style="dim")

    # ------------------------------------------------------------------ notebook

    def _repr_html_(self) -> str:
        n = 15
        shown = self._shown(n)
        largest = max((abs(w.contribution) for w in shown), default=1.0) or 1.0

        def bar(contribution: float) -> str:
            width = max(1, round(160 * abs(contribution) / largest))
            colour = _FOR if contribution >= 0 else _AGAINST
            return f"<div style='height:.8em;width:{width}px;background:{colour}'></div>"

        rows = "".join(
            f"<tr><td style='text-align:right'>{html.escape(w.word)}</td>"
            f"<td style='text-align:right'>{'' if w.count == 1 else 'x' + _number(w.count)}</td>"
            f"<td style='text-align:right'>{w.contribution:+.2f}</td>"
            f"<td style='text-align:left'>{bar(w.contribution)}</td>"
            f"<td style='text-align:left;opacity:.65'>{html.escape(_from(w))}</td></tr>"
            for w in shown
        )
        rows += "".join(
            f"<tr style='opacity:.65'><td style='text-align:right'>{html.escape(name)}</td><td></td>"
            f"<td style='text-align:right'>{value:+.2f}</td><td></td></tr>"
            for name, value in self._sums(n)
        )
        unknown = f" · {self._unknown_line()}" if self.n_unknown else ""
        sources = "".join(f"<p>{html.escape(line)}</p>" for line in self._source_lines())
        return (
            "<div class='genus-explanation'>"
            f"<p><b>{html.escape(str(self.label))}</b> · probability {self.probability:.3f} · "
            f"next: {html.escape(str(self.against))}{unknown}</p>"
            f"<p style='line-height:1.6'>{self._marked_text(largest)}</p><table>{rows}</table>{sources}</div>"
        )

    def _marked_text(self, largest: float) -> str:
        """The text with its words shaded by what they contribute."""
        weight = {w.word: w.contribution for w in self.words}
        parts = []
        for piece in re.split(r"(\w+)", self.text):
            contribution = weight.get(piece.lower(), 0.0)
            escaped = html.escape(piece)
            if abs(contribution) >= 0.05 * largest:
                colour = _FOR if contribution > 0 else _AGAINST
                alpha = round(255 * min(1.0, 0.15 + 0.5 * abs(contribution) / largest))
                escaped = f"<span style='background:{colour}{alpha:02x}' title='{contribution:+.2f}'>{escaped}</span>"
            parts.append(escaped)
        return "".join(parts)


_FOR, _AGAINST = "#2a9d5c", "#d1495b"


def _from(word: WordEvidence) -> str:
    """What a new word is like; or the node of the tree that a word mostly comes from, and its share."""
    if word.like:
        return f"  like {', '.join(word.like)}"
    if not word.levels:
        return ""
    node, share = next(iter(word.levels.items()))
    return f"  from {node} ({share:.2f})"


def _is_are(n: int) -> str:
    return "is" if n == 1 else "are"


def _number(x: float) -> str:
    return f"{x:g}"


def _plain(label: object) -> object:
    return label.item() if hasattr(label, "item") else label
