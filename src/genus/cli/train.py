"""train: a model file from labeled texts. It is written atomically, and only on success."""

from __future__ import annotations

import json
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from genus._registry import MODELS
from genus.cli._auto_options import print_leaderboard, read_descriptions, read_tree, read_vectors, search_options
from genus.cli._checks import DATA, TARGET, TEXTS, command
from genus.cli._input import (
    Reading,
    columns,
    data_options,
    n_documents,
    n_words,
    read,
    read_texts,
    save_model,
    training_labels,
)
from genus.cli._output import cell, console, count, json_option, print_json, size, table, working
from genus.errors import DataError

if TYPE_CHECKING:
    from genus.base.protocol import Estimator, Params
    from genus.classifier.text_classifier import TextClassifier
    from genus.text.vectorizer import Vectorizer

_CLASSES = 10  # shown after training


def _ngrams(value: str) -> tuple[int, int]:
    try:
        low, _, high = value.partition("-")
        return int(low), int(high or low)
    except ValueError:
        raise click.BadParameter(f"{value!r} is neither a size such as 2 nor a range such as 1-2") from None


def _frequency(value: str) -> float:
    """A number of documents, or a fraction of them if it has a decimal point."""
    try:
        return float(value) if "." in value else int(value)
    except ValueError:
        raise click.BadParameter(f"{value!r} is neither a number of documents nor a fraction such as 0.5") from None


@command()
@click.argument("data", type=DATA)
@click.option(
    "-o",
    "--out",
    type=TARGET,
    required=True,
    metavar="FILE",
    help="Model file to write, e.g. mail.genus.",
)
@click.option(
    "--model",
    type=click.Choice(["auto", *MODELS]),
    help="Model to train. Default: auto, which selects among several; nb if --alpha or --set is given.",
)
@click.option("--unlabeled", type=TEXTS, metavar="FILE", help="Additional unlabeled texts to learn from (auto only).")
@search_options(60.0)
@click.option("--alpha", type=float, help="Smoothing: added to every count. Smaller values trust rare words more.")
@click.option("--set", "settings", multiple=True, metavar="NAME=VALUE", help="Another parameter; may be repeated.")
@click.option(
    "--ngrams",
    type=_ngrams,
    metavar="LOW-HIGH",
    default="1",
    show_default=True,
    help="n-gram sizes, e.g. 1-2.",
)
@click.option("--edges", is_flag=True, help="With --ngrams 1-2: also mark words at the start and end of a text.")
@click.option(
    "--analyzer",
    type=click.Choice(["word", "char", "char_wb"]),
    default="word",
    show_default=True,
    help="Count words, character n-grams, or character n-grams within words.",
)
@click.option("--stemmer", metavar="LANGUAGE", help="Stem words: english, german, ...")
@click.option("--stop-words", metavar="NAME|FILE", help="Words to ignore: english, or a file with one word per line.")
@click.option(
    "--min-df",
    type=_frequency,
    metavar="N",
    default="1",
    help="Ignore words in fewer than N documents (or a fraction of them).",
)
@click.option(
    "--max-df",
    type=_frequency,
    metavar="N",
    default="1.0",
    help="Ignore words in more than N documents (or a fraction of them).",
)
@click.option("--max-features", type=int, metavar="N", help="Keep the N most frequent words.")
@click.option("--hash", "n_hash", type=int, metavar="N", help="Hash words to N columns: no vocabulary is stored.")
@click.option("--binary", is_flag=True, help="Count each word at most once per document.")
@click.option("--jobs", type=int, metavar="N", help="Number of threads. Default: all cores.")
@data_options
@json_option
def train(
    data: str, out: str, model: str | None, alpha: float | None, tree: str | None, settings: tuple[str, ...],
    jobs: int | None, how: Reading, as_json: bool, unlabeled: str | None, time_budget: float, objective: str,
    class_prior: str | dict[str, float], vectors: str, describe: str | None, **text_options: Any,
) -> None:  # fmt: skip
    """Train a model on labeled texts.

    DATA is a CSV, TSV, JSON lines, Parquet or fastText file (compressed or not), a folder with one subfolder per
    class, - for standard input, or dataset:NAME for a data set from `genus data list`.

    Without --model, several models are compared by cross-validation and the best are pooled (see `genus tune`).
    Labels such as hardware/printer are read as paths in a tree of classes. A row may have any number of labels:
    give a list in JSON, or use --label-separator.

    \b
    genus train mail.csv --out mail.genus
    genus train tickets.csv --unlabeled archive.txt --out tickets.genus
    genus train papers.csv --label-separator ';' --out topics.genus
    genus train reviews.parquet --text body --out reviews.genus --ngrams 1-2
    zcat tickets.jsonl.gz | genus train - --out tickets.genus
    """
    name = model or ("nb" if alpha is not None or settings else "auto")
    _check_options(name, alpha, settings, unlabeled, class_prior, vectors, describe)
    given_text_options = _has_text_options(text_options)
    text_options["stop_words"] = _stop_words(text_options["stop_words"])
    values = _values(settings)
    # Imports from here on may take a second.
    chosen: Any = "auto" if name == "auto" else _estimator(name, alpha, tree, values)
    for_auto: Params = {"tree": read_tree(tree), "class_prior": class_prior} if name == "auto" else {}
    if name == "auto" and describe is not None:
        for_auto["descriptions"] = read_descriptions(describe, "--describe")
    vectorizer = _vectorizer(text_options) if name not in ("auto", "gaussian") or given_text_options else None

    with working(f"reading {data}"):
        given = read(data, how)
    labels = training_labels(given)
    if given.label_sets is not None and name != "auto":
        raise DataError(f"{given.name}: rows with several labels need --model auto, not {name}")
    from genus.classifier.text_classifier import TextClassifier

    begin = time.perf_counter()
    reports_progress = name != "auto" and "verbose" in chosen.get_params()  # the Gibbs sampler shows its own
    if reports_progress:
        chosen.set_params(verbose=sys.stderr.isatty())
    more = {} if unlabeled is None else {"unlabeled": read_texts(unlabeled, how)}
    clf = TextClassifier(
        chosen, vectorizer=vectorizer, time_budget=time_budget, objective=objective, n_jobs=jobs,
        vectors=read_vectors(vectors), **for_auto,
    )  # fmt: skip
    with working(f"training on {count(len(given), 'document')}", shown=not reports_progress):
        clf.fit(given.texts, labels, **more)
    if reports_progress:
        chosen.verbose = clf.model_.verbose = False  # the saved model stays silent
    seconds = time.perf_counter() - begin
    save_model(clf, out)

    per_class = n_documents(clf)
    known_words = n_words(clf)
    n_bytes = Path(out).stat().st_size
    if as_json:
        print_json(
            {
                "out": out,
                "documents": len(given),
                "words": known_words,
                "seconds": round(seconds, 3),
                "bytes": n_bytes,
                "classes": _by_label(clf, per_class),
            }
        )
        return
    shown = console()
    read_as = columns(clf) if known_words is None else count(known_words, "word")
    trained = f"{count(len(given), 'document')} in {count(len(clf.classes_), 'class')}"
    shown.print(f"trained on {trained}, {read_as}, in {seconds:.2f} s")
    if per_class is not None:
        _print_classes(clf, per_class)
    if name == "auto":
        print_leaderboard(clf, n=3)
    shown.print(cell(f"saved {out} ({size(n_bytes)}). Try:"))
    for line in (f'genus predict {out} --message "any text"', f"genus inspect {out}"):
        shown.print(cell(f"> {line}", "bold"), soft_wrap=True)


def _check_options(
    name: str,
    alpha: float | None,
    settings: tuple[str, ...],
    unlabeled: str | None,
    class_prior: str | dict[str, float],
    vectors: str,
    describe: str | None,
) -> None:
    """Some options are for auto only, others for every model but auto."""
    if name == "auto":
        for option, value in (("--alpha", alpha), ("--set", settings or None)):
            if value is not None:
                raise click.BadParameter("auto chooses its own parameters; use --model", param_hint=option)
        return
    if unlabeled is not None:
        raise click.BadParameter("unlabeled texts need --model auto", param_hint="--unlabeled")
    if class_prior != "learned":
        raise click.BadParameter("a class prior needs --model auto", param_hint="--class-prior")
    if describe is not None:
        raise click.BadParameter("descriptions need --model auto", param_hint="--describe")
    if vectors not in ("auto", "none") and name != "gaussian":
        raise click.BadParameter("vectors need --model auto or gaussian", param_hint="--vectors")


_TEXT_DEFAULTS = {
    "ngrams": (1, 1), "edges": False, "analyzer": "word", "stemmer": None, "stop_words": None, "min_df": 1,
    "max_df": 1.0, "max_features": None, "n_hash": None, "binary": False,
}  # fmt: skip


def _has_text_options(options: dict[str, object]) -> bool:
    return options != _TEXT_DEFAULTS


def _vectorizer(options: Params) -> Vectorizer:
    """The vectorizer that the text options describe."""
    from genus.text.vectorizer import default_vectorizer

    chosen = {name: value for name, value in options.items() if name != "ngrams"}
    return default_vectorizer(**chosen, ngram_range=options["ngrams"])


def _estimator(model: str, alpha: float | None, tree: str | None, settings: Params) -> Estimator:
    from genus._registry import make_model

    estimator = make_model(model)
    known = estimator.get_params(deep=False).keys() - {"n_jobs"}
    for name in settings:
        if name not in known:
            names = ", ".join(sorted(known))
            raise click.BadParameter(f"model {model} has no parameter {name!r}; it has {names}", param_hint="--set")
    chosen = settings | ({} if alpha is None else {"alpha": alpha})
    if "alpha" in chosen and "alpha" not in known:
        raise click.BadParameter(f"model {model} has no parameter alpha", param_hint="--alpha")
    if tree is not None:
        if "tree" not in known:
            raise click.BadParameter(f"model {model} does not use a tree", param_hint="--tree")
        chosen["tree"] = read_tree(tree)
    made: Estimator = estimator.set_params(**chosen)
    return made


def _values(settings: tuple[str, ...]) -> Params:
    """The parameters given with --set: values are JSON, or else plain strings."""
    values = {}
    for setting in settings:
        name, equals, value = setting.partition("=")
        if not equals:
            raise click.BadParameter(f"{setting!r} does not have the form NAME=VALUE", param_hint="--set")
        try:
            values[name] = json.loads(value)
        except ValueError:
            values[name] = value
    return values


def _stop_words(given: str | None) -> str | list[str] | None:
    if given is None or given == "english":
        return given
    try:
        return Path(given).read_text("utf-8").split()
    except OSError as error:
        reason = f"{given} is neither english nor a readable file ({(error.strerror or str(error)).lower()})"
        raise click.BadParameter(reason, param_hint="--stop-words") from error


def _by_label(clf: TextClassifier, per_class: list[int] | None) -> dict[str, int | None]:
    labels = [str(label) for label in clf.classes_.tolist()]
    return dict.fromkeys(labels) if per_class is None else dict(zip(labels, per_class, strict=True))


def _print_classes(clf: TextClassifier, per_class: list[int]) -> None:
    largest = sorted(zip(per_class, clf.classes_.tolist(), strict=True), key=lambda pair: (-pair[0], str(pair[1])))
    rows = table("class", ">documents")
    for n, label in largest[:_CLASSES]:
        rows.add_row(cell(label), f"{n:,}")
    if len(largest) > _CLASSES:
        rest = sum(n for n, _ in largest[_CLASSES:])
        rows.add_row(cell(f"{len(largest) - _CLASSES:,} more", "dim"), cell(f"{rest:,}", "dim"))
    console().print("", rows, "")
