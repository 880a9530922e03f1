"""Marked texts as one HTML page: suspect labels, and each class's words, its most and its least relevant texts."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from genus.models.relevance.marking import Review
from genus.report.page import _e, _frame

if TYPE_CHECKING:
    from genus.base.protocol import Label
    from genus.classifier.text_classifier import TextClassifier

_SUSPECTS, _CLASSES, _TEXTS = 50, 50, 3  # shown
_CHARACTERS = 1200  # of a text
_LEGEND = (
    '<p class="note">Words <span style="background:#2a9d5c99;border-radius:3px">about the class</span>, '
    '<span style="opacity:.6">background</span>, and the text\'s '
    '<span style="background:#a05cc899;border-radius:3px">own</span>; the darker, the more probable.</p>'
)


def marks_page(
    clf: TextClassifier, texts: Sequence[str], review: Review, rows: Sequence[object], *, model: str, data: str
) -> str:
    """The page, as text. `rows` name the texts, `model` and `data` the files."""
    suspects = review.suspects().tolist()
    article = _Article(clf, texts, review, rows)
    sections = [
        f"<header><h1>{_e(model)}</h1><p>marks of {_e(data)}</p></header>",
        _summary(review, len(suspects)),
        _suspects(suspects, article),
        *(_class(clf, label, review, article) for label in list(review.medians())[:_CLASSES]),
    ]
    return _frame(f"{model}: marks of {data}", "\n".join(sections))


def _summary(review: Review, n_suspects: int) -> str:
    background, relevant, own = review.tokens.sum(axis=0) / max(review.tokens.sum(), 1e-300)
    tiles = [
        ("about their class", f"{relevant:.0%}", "of all words in the vocabulary"),
        ("background", f"{background:.0%}", "common to all classes"),
        ("own", f"{own:.0%}", "of single texts"),
        ("suspect labels", f"{n_suspects:,}", f"of {len(review.labels):,} texts"),
    ]
    cells = "".join(
        f'<div class="tile"><b>{value}</b><span>{name}</span><small>{note}</small></div>' for name, value, note in tiles
    )
    return f'<section class="tiles">{cells}</section>'


def _suspects(suspects: list[int], article: _Article) -> str:
    if not suspects:
        return "<section><h2>Suspect labels</h2><p>There are none.</p></section>"
    more = f" The first {_SUSPECTS} of {len(suspects):,}." if len(suspects) > _SUSPECTS else ""
    return (
        '<section><h2>Suspect labels</h2><p class="note">Texts with hardly a word about their label, for which the '
        f"model predicts another; the most suspect first.{more}</p>{_LEGEND}"
        f"{''.join(map(article.html, suspects[:_SUSPECTS]))}</section>"
    )


def _class(clf: TextClassifier, label: Label, review: Review, article: _Article) -> str:
    ranked = review.of(label).tolist()
    least = [i for i in ranked[: -_TEXTS - 1 : -1] if i not in ranked[:_TEXTS]]
    words = ", ".join(_e(word) for word, _ in clf.top_words(label, 20))
    parts = [f"<h2>{_e(label)}</h2><p><b>Words</b> {words}</p><h3>Most relevant</h3>{_LEGEND}"]
    parts += map(article.html, ranked[:_TEXTS])
    if least:
        parts += ["<h3>Least relevant</h3>", *map(article.html, least)]
    return f"<section>{''.join(parts)}</section>"


class _Article:
    """A text with its marks."""

    def __init__(self, clf: TextClassifier, texts: Sequence[str], review: Review, rows: Sequence[object]) -> None:
        self.clf, self.texts, self.review, self.rows = clf, texts, review, rows

    def html(self, i: int) -> str:
        label, predicted = self.review.labels[i].item(), self.review.predicted[i].item()
        marked = self.clf.mark(self.texts[i], label).shortened(_CHARACTERS)
        taken = "" if predicted == label else f", predicted as <b>{_e(predicted)}</b>"
        return (
            f"<article><p><b>{_e(label)}</b>{taken} <small>row {_e(self.rows[i])}: {marked.relevant:.0%} about it, "
            f"{marked.background:.0%} background, {marked.own:.0%} its own</small></p>"
            f'<blockquote style="white-space:pre-line">{marked.html()}</blockquote></article>'
        )
