"""An evaluation as one HTML page: no scripts, nothing fetched, light and dark, wide and narrow.

All text that comes from data goes through `_e`; the page forbids scripts and fetching besides, so that even
a mistake here could not be used by a hostile document.
"""

from __future__ import annotations

import html
from importlib.resources import files
from typing import TYPE_CHECKING

from genus.explain import Explanation
from genus.report.metrics import Evaluation, Mistake

if TYPE_CHECKING:
    from genus.classifier.text_classifier import TextClassifier

_MATRIX = 20  # classes in the confusion matrix; of more, those with most mistakes
_ROWS = 200  # classes in the table
_POLICY = "default-src 'none'; style-src 'unsafe-inline'"
_SHOWN = 500  # characters of a text


def make_page(result: Evaluation, clf: TextClassifier, *, model: str, data: str) -> str:
    """The page, as text. `model` and `data` name what was evaluated; `clf` explains the mistakes."""
    sections = [
        f"<header><h1>{_e(model)}</h1><p>evaluated on {_e(data)}</p></header>",
        _summary(result),
        _matrix(result),
        _reliability(result),
        _classes(result),
        _mistakes(result, clf),
    ]
    return _frame(f"{model} on {data}", "\n".join(sections))


def explanation_page(why: Explanation) -> str:
    """One explanation as a page."""
    return _frame(f"{why.label}, and why", f"<section>{why._repr_html_()}</section>")


def _frame(title: str, body: str) -> str:
    import genus

    style = files("genus.report").joinpath("page.css").read_text("utf-8")
    return (
        '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        f'<meta http-equiv="Content-Security-Policy" content="{_POLICY}">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"<title>{_e(title)}</title>\n<style>\n{style}</style>\n</head>\n<body>\n<main>\n{body}\n"
        f"<footer>genus {_e(genus.__version__)}</footer>\n</main>\n</body>\n</html>\n"
    )


def _summary(result: Evaluation) -> str:
    tiles = [
        ("accuracy", f"{result.accuracy:.1%}", f"{result.n_right:,} of {result.n:,} right"),
        ("macro F1", f"{result.macro_f1:.3f}", "mean over classes"),
        ("log loss", f"{result.log_loss:.3f}", "of the true label, in nats"),
        ("calibration error", f"{result.calibration_error:.3f}", "confidence minus accuracy"),
    ]
    cells = "".join(
        f'<div class="tile"><b>{value}</b><span>{name}</span><small>{note}</small></div>' for name, value, note in tiles
    )
    unknown = (
        f'<p class="note">{result.n_unknown:,} documents have labels unknown to the model. '
        "They count as mistakes and are left out of the log loss.</p>"
        if result.n_unknown
        else ""
    )
    return f'<section class="tiles">{cells}</section>{unknown}'


def _matrix(result: Evaluation) -> str:
    scores = result.per_class()
    labels = sorted(score.label for score in scores[:_MATRIX])
    support = {score.label: score.support for score in scores}
    note = "Rows are true classes, columns are predictions; shading shows the share of the row."
    if len(scores) > _MATRIX:
        note += f" The {_MATRIX} of {len(scores):,} classes with the most mistakes."
    head = "".join(f'<th scope="col"><span title="{_e(label)}">{_e(label)}</span></th>' for label in labels)
    lines = []
    for truth in labels:
        cells = []
        for predicted in labels:
            count = result.count(truth, predicted)
            share = count / support[truth] if support[truth] else 0.0
            kind = "right" if truth == predicted else "wrong"
            title = _e(f"{truth} predicted as {predicted}: {count:,} ({share:.1%})")
            shown = f"{count:,}" if count else ""
            cells.append(f'<td class="{kind}" style="--v:{share:.3f}" title="{title}">{shown}</td>')
        lines.append(f'<tr><th scope="row" title="{_e(truth)}">{_e(truth)}</th>{"".join(cells)}</tr>')
    table = (
        f'<div class="scroll"><table class="matrix"><thead><tr><td></td>{head}</tr></thead>'
        f"<tbody>{''.join(lines)}</tbody></table></div>"
    )
    pairs = "".join(
        f"<li><b>{_e(c.truth)}</b> predicted as <b>{_e(c.predicted)}</b> <span>{c.n:,}×</span></li>"
        for c in result.confusions(8)
    )
    most = f'<div><h3>Most frequent</h3><ol class="pairs">{pairs}</ol></div>' if pairs else ""
    body = f'<p class="note">{note}</p><div class="beside">{table}{most}</div>'
    return f"<section><h2>Confusions</h2>{body}</section>"


def _reliability(result: Evaluation) -> str:
    """Accuracy over confidence, a dot per bin; bars below show how many predictions are in a bin."""
    left, top, size, foot = 40, 12, 320, 70
    bins = result.bins()
    largest = max((b.n for b in bins), default=1)

    def x(value: float) -> float:
        return left + size * value

    def y(value: float) -> float:
        return top + size * (1 - value)

    grid = "".join(
        f'<path class="grid" d="M{x(0)} {y(v)}H{x(1)}M{x(v)} {y(0)}V{y(1)}"/>'
        f'<text x="{left - 6}" y="{y(v) + 4:.1f}" text-anchor="end">{v:g}</text>'
        f'<text x="{x(v)}" y="{y(0) + 16}" text-anchor="middle">{v:g}</text>'
        for v in (0, 0.25, 0.5, 0.75, 1)
    )
    line = "M" + "L".join(f"{x(b.confidence):.1f} {y(b.accuracy):.1f}" for b in bins)
    dots = "".join(
        f'<circle cx="{x(b.confidence):.1f}" cy="{y(b.accuracy):.1f}" r="{2.5 + 4 * (b.n / largest) ** 0.5}">'
        f"<title>{b.n:,} predictions, mean confidence {b.confidence:.1%}, {b.accuracy:.1%} right</title></circle>"
        for b in bins
    )
    base = y(0) + 24 + foot
    bars = "".join(
        f'<rect x="{x(b.low) + 1:.1f}" width="{size * (b.high - b.low) - 2:.1f}" '
        f'y="{base - h:.1f}" height="{h:.1f}"><title>{b.n:,} predictions</title></rect>'
        for b in bins
        for h in [max(1.0, foot * b.n / largest)]
    )
    svg = (
        f'<svg viewBox="0 0 {left + size + 12} {base + 22}" role="img" '
        'aria-label="Reliability curve: accuracy over confidence">'
        f'{grid}<path class="ideal" d="M{x(0)} {y(0)}L{x(1)} {y(1)}"/><path class="curve" d="{line}"/>'
        f'<g class="dots">{dots}</g><g class="bars">{bars}</g>'
        f'<text x="{x(0.5)}" y="{base + 16}" text-anchor="middle">confidence, and number of predictions</text></svg>'
    )
    note = (
        "How often predictions of a given confidence are right. On the dashed line the two agree; below it the model "
        "is overconfident. Larger dots stand for more predictions."
    )
    body = f'<div class="beside"><p class="note">{note}</p>{svg}</div>'
    return f"<section><h2>Reliability</h2>{body}</section>"


def _classes(result: Evaluation) -> str:
    scores = result.per_class()
    rows = "".join(
        f'<tr><th scope="row">{_e(s.label)}</th><td>{s.precision:.3f}</td><td>{s.recall:.3f}</td>'
        f'<td class="bar" style="--v:{s.f1:.3f}">{s.f1:.3f}</td><td>{s.support:,}</td></tr>'
        for s in scores[:_ROWS]
    )
    note = "Classes with the most mistakes first."
    if len(scores) > _ROWS:
        note += f" {_ROWS} of {len(scores):,}; genus evaluate --json lists all."
    return (
        f'<section><h2>Classes</h2><p class="note">{note}</p><div class="scroll tall"><table class="classes">'
        '<thead><tr><th scope="col">class</th><th scope="col">precision</th><th scope="col">recall</th>'
        '<th scope="col">F1</th><th scope="col">support</th></tr></thead>'
        f"<tbody>{rows}</tbody></table></div></section>"
    )


def _mistakes(result: Evaluation, clf: TextClassifier) -> str:
    if not result.mistakes:
        return "<section><h2>Worst mistakes</h2><p>There are none.</p></section>"
    articles = "".join(_mistake(mistake, clf) for mistake in result.mistakes)
    return (
        '<section><h2>Worst mistakes</h2><p class="note">Wrong predictions with the highest confidence, and '
        "the words behind them: how much each adds to the log odds of the predicted over the true class. "
        f"Some of these may be labeling errors.</p>{articles}</section>"
    )


def _mistake(mistake: Mistake, clf: TextClassifier) -> str:
    labels = {str(label): label for label in clf.classes_}
    why = clf.explain(mistake.text, label=labels[mistake.predicted], against=labels.get(mistake.truth))
    words = "".join(
        f'<span class="{side}">{_e(w.word)} {w.contribution:+.1f}</span>'
        for w in why.words[:8]
        for side in ["for" if w.contribution > 0 else "against"]
    )
    text = " ".join(mistake.text.split())
    if len(text) > _SHOWN:
        text = text[:_SHOWN] + "…"
    return (
        f"<article><p><b>{_e(mistake.predicted)}</b> {mistake.confidence:.1%} confident, but it is "
        f"<b>{_e(mistake.truth)}</b> <small>row {mistake.row:,}</small></p>"
        f'<blockquote>{_e(text)}</blockquote><p class="words">{words}</p></article>'
    )


def _e(text: object) -> str:
    """Escaped for HTML; control characters are replaced."""
    plain = "".join(c if c.isprintable() or c == "\n" else "\N{REPLACEMENT CHARACTER}" for c in str(text))
    return html.escape(plain)
