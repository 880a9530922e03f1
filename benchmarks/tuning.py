"""``python -m benchmarks.tuning``: what halving and doubling each tuned number changes (decision record 0008).

Small parts of data sets, means over three draws, through `TextClassifier()`: with one label the accuracy and log loss
of new texts, with sets of labels their mean F1 and the log loss of a label, and for rejection the area under the ROC
curve of typicality, new texts of the set against texts of another one. Numbers that only limit time or memory change
nothing at this size and are left out.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, fields, replace
from typing import Any

import click
import numpy as np
from sklearn.metrics import roc_auc_score

import genus.auto.choose
from genus import TextClassifier
from genus.base.tuning import TUNED
from genus.datasets import load_dataset
from genus.multilabel.metrics import label_scores

N_TRAIN, N_TEST, N_DRAWS = 300, 600, 3
ONE_LABEL = ("trec-questions", "sentence_polarity", "cora-abstracts")
SETS = "reuters21578-modapte90"
STRANGERS = "sms_spam"
SCORES = ("handicaps", "handicap_documents", "rank_penalty", "diversity_bonus", "log_loss_weight", "n_folds")
SCORES += ("most_members", "many_texts", "short_text", "caution")
LABELS = ("n_neighbors", "neighbor_sharpness", "neighbor_floor", "label_costs", "label_tolerance", "least_word")
LABELS += ("stack_ridge", "label_ridge")
REJECTION = "familiarity_powers"
Result = tuple[float, float]


@dataclass(frozen=True)
class Part:
    """Texts to learn from and others to be asked."""

    texts: list[str]
    labels: list[Any]
    test_texts: list[str]
    test_labels: list[Any]


def draw(name: str, seed: int) -> Part:
    """Some texts of a data set, shuffled."""
    data = load_dataset(name)
    order = np.random.default_rng(seed).permutation(len(data))[: N_TRAIN + N_TEST].tolist()
    texts, labels = [data.texts[i] for i in order], [data.labels[i] for i in order]
    return Part(texts[:N_TRAIN], labels[:N_TRAIN], texts[N_TRAIN:], labels[N_TRAIN:])


def scaled(value: Any, factor: float) -> Any:
    """A number, or all numbers of a tuple, times a factor."""
    if isinstance(value, tuple):
        return tuple(scaled(v, factor) for v in value)
    if isinstance(value, (int, float)):
        return type(value)(value * factor)
    return replace(value, **{f.name: scaled(getattr(value, f.name), factor) for f in fields(value)})


@contextmanager
def changed(name: str, value: Any) -> Iterator[None]:
    """A tuned number with another value, for as long as this lasts."""
    usual, candidates = getattr(TUNED, name), genus.auto.choose.CANDIDATES
    object.__setattr__(TUNED, name, value)  # it is frozen: nothing but this measures with others
    if name == "handicaps":
        factor = value.naive_bayes / usual.naive_bayes
        genus.auto.choose.CANDIDATES = tuple(replace(c, handicap=factor * c.handicap) for c in candidates)
    try:
        yield
    finally:
        object.__setattr__(TUNED, name, usual)
        genus.auto.choose.CANDIDATES = candidates


def one_label(part: Part) -> Result:
    clf = TextClassifier(time_budget=600).fit(part.texts, part.labels)
    position = {label: i for i, label in enumerate(clf.classes_.tolist())}
    known = [i for i, label in enumerate(part.test_labels) if label in position]
    p = clf.predict_proba([part.test_texts[i] for i in known])
    own = np.array([position[part.test_labels[i]] for i in known])
    return float(np.mean(p.argmax(axis=1) == own)), float(-np.log(p[np.arange(len(own)), own]).mean())


def label_sets(part: Part) -> Result:
    sets = [set(labels) for labels in part.labels]
    clf = TextClassifier(time_budget=600).fit(part.texts, sets)
    names = clf.classes_.tolist()
    truth = np.array([[name in labels for name in names] for labels in map(set, part.test_labels)])
    given = np.array([[name in labels for name in names] for labels in clf.predict(part.test_texts)])
    p = np.clip(clf.predict_proba(part.test_texts), 1e-12, 1 - 1e-12)
    loss = -np.where(truth, np.log(p), np.log1p(-p)).mean()
    return label_scores(given, truth)["example_f1"], float(loss)


def mean(measure: Callable[[Part], Result], parts: list[Part]) -> Result:
    first, second = np.mean([measure(part) for part in parts], axis=0).tolist()
    return first, second


def show(number: str, factor: str, data: str, result: Result, usual: Result) -> None:
    first, second = (new - old for new, old in zip(result, usual, strict=True))
    click.echo(f"| {number} | {factor} | {data} | {100 * first:+.2f} | {second:+.4f} |")


@click.command(help=__doc__)
@click.option("--only", type=click.Choice(["labels", "sets", "rejection"]), help="One of the three tables.")
def main(only: str | None) -> None:
    if only != "rejection":
        click.echo("| number | times | data set | accuracy or F1, points | log loss |\n| --- | --- | --- | --- | --- |")
    if only in (None, "labels"):
        for name in ONE_LABEL:
            effects(name, SCORES, one_label)
    if only in (None, "sets"):
        effects(SETS, LABELS, label_sets)
    if only in (None, "rejection"):
        strangers = draw(STRANGERS, 0).test_texts
        click.echo("\n| power, times | data set | area under the ROC curve |\n| --- | --- | --- |")
        for name in ONE_LABEL[:2]:
            rejection(draw(name, 0), name, strangers)


def effects(name: str, numbers: tuple[str, ...], measure: Callable[[Part], Result]) -> None:
    """Means over draws, as it is and with each number halved and doubled."""
    parts = [draw(name, seed) for seed in range(N_DRAWS)]
    usual = mean(measure, parts)
    click.echo(f"| (as it is) | 1 | {name} | {100 * usual[0]:.2f} | {usual[1]:.4f} |")
    for number in numbers:
        for factor in (0.5, 2.0):
            with changed(number, scaled(getattr(TUNED, number), factor)):
                show(number, f"{factor:g}", name, mean(measure, parts), usual)


def rejection(part: Part, name: str, strangers: list[str]) -> None:
    """The area under the ROC curve, as it is and with each power changed; what is usual is learned with it."""
    powers = TUNED.familiarity_powers
    tried: list[tuple[str, tuple[float, ...]]] = [("as it is", powers)]
    for k, what in enumerate(("margin", "certainty", "known words")):
        for factor in (0.5, 2.0):
            value = tuple(p * (factor if i == k else 1) for i, p in enumerate(powers))
            tried += [(f"{what}, {factor:g}", value)]
    for what, value in tried:
        with changed(REJECTION, value):
            clf = TextClassifier(time_budget=600).fit(part.texts, part.labels)
            typical = clf.typicality([*part.test_texts, *strangers])
        area = roc_auc_score([1] * len(part.test_texts) + [0] * len(strangers), typical)
        click.echo(f"| {what} | {name} | {area:.4f} |")


if __name__ == "__main__":
    main()
