"""inspect: a model's settings, and what it has learned."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import click

from genus.cli._checks import MODEL, command
from genus.cli._input import columns, find_class, n_documents, n_words, open_model
from genus.cli._output import cell, clean, console, count, json_option, print_json, size, table
from genus.errors import DataError

if TYPE_CHECKING:
    from genus.base.protocol import Label
    from genus.classifier.text_classifier import TextClassifier
    from genus.pipeline.vector_reader import Reader

_CLASSES = 20  # shown in a terminal


@command()
@click.argument("model", type=MODEL)
@click.option("--class", "label", metavar="LABEL", help="Show this class only.")
@click.option("--tree", is_flag=True, help="Show the tree of classes, with the words of each node.")
@click.option("--word", metavar="WORD", help="Show which nodes of the tree generate this word.")
@click.option("--words", type=click.IntRange(0), default=8, show_default=True, metavar="N", help="Words per class.")
@click.option("--verify", is_flag=True, help="Only compare every array in the file with its checksum.")
@json_option
def inspect(
    model: str, label: str | None, tree: bool, word: str | None, words: int, verify: bool, as_json: bool
) -> None:
    """Show a model's settings and what it has learned.

    The words shown for a class are those that distinguish it best from the other classes, not the most frequent
    ones. For a model with hidden nodes, the nodes of each class are shown too. Training documents are numbered
    from 0.

    \b
    genus inspect mail.genus
    genus inspect mail.genus --class spam --words 30
    genus inspect tickets.genus --tree
    genus inspect tickets.genus --word toner
    genus inspect mail.genus --verify
    """
    from genus.io.model_file import describe_file

    about = describe_file(model)
    if verify:
        _verify(model, about, as_json)
        return
    clf = open_model(model)
    if tree or word is not None:
        if not hasattr(clf.model_, "tree_"):
            raise click.UsageError("--tree and --word need a model with a tree of classes (hs, hm)")
        _inspect_word(clf, word, label, as_json) if word is not None else _inspect_tree(clf, words, as_json)
        return
    classes = _classes(clf, label, words, None if as_json else _CLASSES)
    if as_json:
        print_json(_summary(about, clf) | {"classes": classes})
        return
    out = console()
    if label is None:
        _print_summary(about, clf)
    rows = table("class", ">documents", "words")
    for entry in classes:
        documents = "" if entry["documents"] is None else f"{entry['documents']:,}"
        rows.add_row(cell(entry["label"], "bold"), documents, cell(", ".join(w["word"] for w in entry["words"])))
    out.print(rows)
    _print_nodes(classes)
    hidden = len(clf.classes_) - len(classes)
    if hidden and label is None:
        out.print(cell(f"{hidden:,} more classes: --class LABEL, or --json for all", "dim"))


def _verify(model: str, about: dict[str, Any], as_json: bool) -> None:
    """Refuse a damaged file, naming the array."""
    from genus.io.model_file import has_checksums, load

    load(model, verify=True)
    checked = has_checksums(model)
    n_arrays, n_bytes = len(about["arrays"]), about["bytes"]
    if as_json:
        print_json({"path": model, "bytes": n_bytes, "arrays": n_arrays, "checksums": checked})
        return
    found = "all as they were written" if checked else "without checksums (saving the model adds them); it opens"
    console().print(cell(f"{model}: {count(n_arrays, 'array')}, {size(n_bytes)}, {found}"))


def _inspect_word(clf: TextClassifier, word: str, label: str | None, as_json: bool) -> None:
    """Which nodes generate a word, in shares."""
    try:
        levels = clf.word_levels(word, None if label is None else find_class(clf, label))
    except ValueError as error:
        raise DataError(str(error).rstrip(".")) from error
    if as_json:
        print_json({"word": word, "class": label, "levels": levels})
        return
    rows = table("node", ">share")
    for node, share in levels.items():
        if share >= 0.0005:
            rows.add_row(cell(node), f"{share:.3f}")
    console().print(rows)


def _inspect_tree(clf: TextClassifier, words: int, as_json: bool) -> None:
    """The tree, each node with its own words."""
    from rich.text import Text

    tree = clf.model_.tree_
    nodes = [*([] if tree.root is not None else ["(all)"]), *tree.nodes]
    has_words = any("tree" in member.settings for member in clf._fitted.members)  # not every pool has a tree model
    found = {node: [word for word, _ in clf.node_words(node, words)] if has_words else [] for node in nodes}
    if as_json:
        parents = {str(node): tree.parent(node) for node in tree.nodes}
        print_json({"parents": parents, "words": {str(node): own for node, own in found.items()}})
        return
    text = tree.render(lambda node: clean(f"{node}: {', '.join(found[node])}" if found[node] else node))
    console().print(Text(text), soft_wrap=True)


def _classes(clf: TextClassifier, label: str | None, words: int, most: int | None) -> list[dict[str, Any]]:
    """The requested class, or all of them, largest first."""
    labels = clf.classes_.tolist()
    documents: Sequence[int | None] = n_documents(clf) or [None for _ in labels]
    order = sorted(range(len(labels)), key=lambda c: (-(documents[c] or 0), str(labels[c])))[:most]
    if label is not None:
        order = [labels.index(find_class(clf, label))]
    return [
        {
            "label": labels[c],
            "documents": documents[c],
            "words": _weighted(clf.top_words(labels[c], words) if words else []),
        }
        | _nodes(clf, labels[c], words)
        for c in order
    ]


def _weighted(words: Sequence[tuple[str, float]]) -> list[dict[str, object]]:
    return [{"word": word, "weight": weight} for word, weight in words]


def _nodes(clf: TextClassifier, label: Label, words: int) -> dict[str, object]:
    """The hidden nodes of a class, if the model has any."""
    from genus.base.protocol import TellsNodes, offers

    if not offers(clf.model_, TellsNodes):
        return {}
    nodes = clf.hidden_nodes(label, words)
    return {
        "nodes": [
            {"number": n.number, "share": n.share, "words": _weighted(n.words), "nearest": list(n.nearest)}
            for n in nodes
        ]
    }


def _print_nodes(classes: list[dict[str, Any]]) -> None:
    several = [entry for entry in classes if len(entry.get("nodes", ())) > 1]
    if not several:
        return
    rows = table("hidden nodes", ">", ">share", "distinctive words", "nearest documents")
    for entry in several:
        for node in entry["nodes"]:
            words = ", ".join(w["word"] for w in node["words"])
            nearest = ", ".join(f"{d:,}" for d in node["nearest"])
            name = entry["label"] if node["number"] == 1 else ""
            rows.add_row(cell(name, "bold"), str(node["number"]), f"{node['share']:.2f}", cell(words), nearest)
    console().print("", rows)


def _summary(about: dict[str, Any], clf: TextClassifier) -> dict[str, Any]:
    documents = n_documents(clf)
    return {
        "path": about["path"],
        "bytes": about["bytes"],
        "format": about["format"],
        "genus_version": about["genus_version"],
        **_parts(about["children"], clf),
        "documents": None if documents is None else sum(documents),
        "receipt": _receipt(clf),
        "n_classes": len(clf.classes_),
        "words": n_words(clf),
    }


def _receipt(clf: TextClassifier) -> dict[str, object] | None:
    """How many texts were learned, and the sum of their hashes."""
    known = clf.receipt_
    return None if known is None else {"documents": known.n_documents, "sum": str(known)}


def _parts(parts: dict[str, Any], clf: TextClassifier) -> dict[str, Any]:
    """The model and how it reads texts; of a pool, its members."""
    if "pool" not in parts:
        model, vectorizer = parts["model"], parts["vectorizer"]
        text = vectorizer["params"] if vectorizer["class"] == "Vectorizer" else _reading(clf.vectorizer_)
        return {"model": model["class"], "settings": model["params"], "text": text}
    members = [
        {
            "model": member.name,
            "weight": weight,
            "settings": member.settings,
            "text": _reading(member.vectorizer),
        }
        for member, weight in clf.model_.weighted_members()
    ]
    return {"model": "Pool", "settings": {}, "text": members[0]["text"], "members": members}


def _reading(reader: Reader) -> dict[str, Any]:
    """How a member reads texts: the settings of its vectorizer, or the name of its encoder."""
    from genus.pipeline.vector_reader import VectorReader

    if isinstance(reader, VectorReader):
        return {"vectors": reader.source.name}
    params: dict[str, Any] = reader.get_params()
    return params | {"dtype": "float32"}


def _print_summary(about: dict[str, Any], clf: TextClassifier) -> None:
    summary = _summary(about, clf)
    from genus.text.vectorizer import Vectorizer

    usual = Vectorizer().get_params() | {
        "split_unspaced": True,
        "dtype": "float32",
        "ngram_range": [1, 1],
    }

    def listed_text(text: Mapping[str, object]) -> str:
        if "vectors" in text:
            return f"word vectors {clean(text['vectors'])}"
        chosen = {k: v for k, v in text.items() if _plain(v) != usual[k] and k != "n_jobs"}
        return _listed(chosen) or "single words"

    def listed_settings(settings: Mapping[str, object]) -> str:
        return _listed({k: v for k, v in settings.items() if v is not None and k != "n_jobs"})

    words = columns(clf) if summary["words"] is None else f"{summary['words']:,}"
    rows = table("", "")
    rows.show_header = False
    for name, value in (
        ("model", summary["model"]),
        *(
            (("settings", listed_settings(summary["settings"])), ("text", listed_text(summary["text"])))
            if "members" not in summary
            else ()
        ),
        *(
            (f"member, {m['weight']:.2f}", f"{m['model']}: {listed_settings(m['settings'])}; {listed_text(m['text'])}")
            for m in summary.get("members", ())
        ),
        ("documents", "" if summary["documents"] is None else f"{summary['documents']:,}"),
        *(() if summary["receipt"] is None else (("receipt", summary["receipt"]["sum"]),)),
        ("classes", f"{summary['n_classes']:,}"),
        ("words", words),
        (
            "file",
            f"{size(summary['bytes'])}, format {summary['format']}, by genus {summary['genus_version']}",
        ),
    ):
        rows.add_row(cell(name, "dim"), cell(value))
    console().print(rows, "")


def _plain(value: object) -> object:
    return list(value) if isinstance(value, tuple) else value


def _listed(values: Mapping[str, object]) -> str:
    return ", ".join(f"{name}={clean(_short(value))}" for name, value in values.items())


def _short(value: object) -> object:
    return count(len(value), "word") if isinstance(value, list) and len(value) > 4 else value
