"""Data sets in folders: found by name, loaded whole, told apart when they are not there."""

from __future__ import annotations

import gzip
import json
import lzma
import os
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from genus import datasets
from genus.datasets import data_folders, list_datasets, load_dataset
from genus.errors import DataError


def put(folder: Path, file: str, rows: list[dict[str, Any]]) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    data = "".join(json.dumps(row) + "\n" for row in rows).encode()
    compress = {"xz": lzma.compress, "gz": gzip.compress}.get(file.rsplit(".")[-1], bytes)
    (folder / file).write_bytes(compress(data))


@pytest.fixture
def root(tmp_path, monkeypatch):
    """A folder with a split set, a set of counts, a multi-label set with a tree, and one in odd parts."""
    put(tmp_path / "mail", "train.jsonl.xz", [{"text": "win", "label": "spam", "fine": "cash", "id": 1}])
    put(tmp_path / "mail", "test.jsonl.gz", [{"text": "noon", "label": "ham", "fine": "friend"}])
    (tmp_path / "mail" / "README.md").write_text("# Two letters\nmore\n")
    put(
        tmp_path / "group/words",
        "all.jsonl",
        [{"counts": {"b": 2}, "label": "x"}, {"counts": {"a": 1}, "label": "y"}],
    )
    (tmp_path / "group" / "README.md").write_text("# Sets of words\n")
    put(tmp_path / "tags", "all.jsonl", [{"text": "t", "labels": ["a", "b"]}])
    (tmp_path / "tags" / "hierarchy.json").write_text('{"a": "root", "b": "root"}')
    put(tmp_path / "odd", "one.jsonl", [{"text": "1", "label": "x"}])
    put(tmp_path / "odd", "two.jsonl", [{"text": "2", "label": "y"}])
    monkeypatch.setenv("GENUS_DATA", str(tmp_path))
    return tmp_path


def test_sets_are_listed_with_parts_tree_and_summary(root):
    infos = {info.name: info for info in list_datasets()}
    assert list(infos) == ["group/words", "mail", "odd", "tags"]
    files = {"train": "mail/train.jsonl.xz", "test": "mail/test.jsonl.gz"}
    assert infos["mail"].parts == {part: (root / file).stat().st_size for part, file in files.items()}
    assert (infos["mail"].summary, infos["group/words"].summary) == ("Two letters", "Sets of words")
    assert [info.has_hierarchy for info in infos.values()] == [False, False, False, True]


def test_parts_are_loaded_by_name_and_all_together(root):
    assert load_dataset("mail", "train").texts == ["win"]
    assert load_dataset("mail", "test").labels == ["ham"]
    whole = load_dataset("mail")
    assert (whole.texts, whole.labels, len(whole), whole.multilabel) == (
        ["win", "noon"],
        ["spam", "ham"],
        2,
        False,
    )
    assert whole.extra == {"fine": ["cash", "friend"], "id": [1, None]}
    assert load_dataset("odd").texts == ["1", "2"]
    assert load_dataset("odd", "two").texts == ["2"]


def test_another_column_can_be_the_label(root):
    data = load_dataset("mail", "train", label="fine")
    assert (data.labels, data.extra["label"]) == (["cash"], ["spam"])


def test_many_labels_and_the_tree_are_loaded(root):
    data = load_dataset("tags")
    assert (data.labels, data.multilabel) == ([["a", "b"]], True)
    assert data.hierarchy == {"a": "root", "b": "root"}


def test_counts_become_sparse_rows(root):
    data = load_dataset("group/words")
    assert (data.texts, data.counts) == (None, [{"b": 2}, {"a": 1}])
    matrix, words = data.matrix()
    assert (words, matrix.toarray().tolist()) == (["a", "b"], [[0, 2], [1, 0]])
    matrix, words = data.matrix(["b", "new"])
    assert (words, matrix.toarray().tolist()) == (["b", "new"], [[2, 0], [0, 0]])
    with pytest.raises(DataError, match="tags has texts, not counts"):
        load_dataset("tags").matrix()


def test_the_first_folder_wins(root, tmp_path_factory, monkeypatch):
    other = tmp_path_factory.mktemp("other")
    put(other / "mail", "all.jsonl", [{"text": "other", "label": "x"}])
    monkeypatch.setenv("GENUS_DATA", os.pathsep.join([str(other), str(root), "", str(root / "none")]))
    assert data_folders() == [other, root]
    assert load_dataset("mail").texts == ["other"]
    assert load_dataset("tags").texts == ["t"]


def test_a_source_checkout_looks_beside_itself(tmp_path, monkeypatch):
    monkeypatch.delenv("GENUS_DATA", raising=False)
    monkeypatch.setattr(datasets, "__file__", str(tmp_path / "project/src/genus/datasets.py"))
    beside = tmp_path / "shared" / "data"
    beside.mkdir(parents=True)
    assert data_folders() == []  # installed somewhere: no project, no guess
    (tmp_path / "project").mkdir()
    (tmp_path / "project/pyproject.toml").touch()
    assert data_folders() == [beside]


@pytest.mark.parametrize(
    ("arguments", "gist"),
    [
        (("mial",), "no data set 'mial' in ROOT; did you mean mail? Set GENUS_DATA to the folders"),
        (("zzzzzzzz",), "no data set 'zzzzzzzz' in ROOT; there are 4 others"),
        (("../mail",), "no data set '../mail'"),
        (("mail", "dev"), "mail has no part 'dev'; it has test, train"),
        (("tags", "train"), "tags has no part 'train'; it has all"),
        (("mail", "train", "topic"), "mail: not every row has 'topic'; the first has text, label, fine, id"),
    ],
)
def test_what_is_not_there_is_told(arguments, gist, root):
    with pytest.raises(DataError) as caught:
        load_dataset(*arguments)
    assert gist.replace("ROOT", str(root)) in str(caught.value)


def test_without_folders_the_answer_says_how_to_name_them(monkeypatch):
    monkeypatch.setenv("GENUS_DATA", "")
    with pytest.raises(DataError, match=r"no data set 'imdb' in no folder; .* Set GENUS_DATA"):
        load_dataset("imdb")


def test_broken_files_are_told(root):
    (root / "tags" / "hierarchy.json").write_text("{")
    with pytest.raises(DataError, match=r"hierarchy.json: is not valid JSON"):
        load_dataset("tags")
    (root / "odd" / "one.jsonl").write_text('{"text": "a", "label": "x"}\n{"text":')
    with pytest.raises(DataError, match=r"one.jsonl: row 2 is not valid JSON"):
        load_dataset("odd")


def test_20_newsgroups_comes_from_scikit_learn(monkeypatch):
    import sklearn.datasets

    asked = []

    def fetch(subset: str) -> SimpleNamespace:
        asked.append(subset)
        if subset == "test":
            raise OSError("no network")
        return SimpleNamespace(data=["a", "b"], target=[1, 0], target_names=["sci.med", "sci.space"])

    monkeypatch.setenv("GENUS_DATA", "")
    monkeypatch.setattr(sklearn.datasets, "fetch_20newsgroups", fetch)
    data = load_dataset("20newsgroups", "train")
    assert (data.texts, data.labels, asked) == (["a", "b"], ["sci.space", "sci.med"], ["train"])
    with pytest.raises(DataError, match="could not be fetched: no network"):
        load_dataset("20newsgroups", "test")
    with pytest.raises(DataError, match="20newsgroups has no part 'dev'"):
        load_dataset("20newsgroups", "dev")


# ---------------------------------------------------------------- the real sets


@pytest.mark.data
@pytest.mark.slow  # reads as much as there is
def test_every_set_there_is_loads():
    infos = list_datasets()
    assert infos
    for info in infos:  # the smallest part of each: all of them would take a minute
        part = min(info.parts, key=lambda name: info.parts[name])
        data = load_dataset(info.name, part)
        assert len(data) > 0
        assert (data.texts is None) != (data.counts is None)
        assert len(data.texts or data.counts or []) == len(data.labels)
        assert (data.hierarchy is not None) == info.has_hierarchy
        assert info.summary


@pytest.mark.data
@pytest.mark.parametrize(
    ("name", "part", "n_rows", "n_classes"),
    [("r8-stemmed", "train", 5485, 8), ("r8-stemmed", "test", 2189, 8), ("webkb-stemmed", "all", 4199, 4)],
)
def test_known_sizes(load, name, part, n_rows, n_classes):
    data = load(name, part)
    assert (len(data), len(set(data.labels))) == (n_rows, n_classes)


@pytest.mark.data
def test_known_counts(load):
    matrix, words = load("weka19/re0").matrix()
    assert matrix.shape == (1504, 2886)
    assert len(words) == 2886
    assert load("mulan_medical", "train").multilabel
