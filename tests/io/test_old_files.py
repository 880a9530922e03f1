"""Model files written by earlier versions open, answer as they did, and learn on: a promise."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from genus import TextClassifier

# One file of each model, written by version 0.1.0 in file format 2, and what it answered then.
FOLDER = Path(__file__).parents[1] / "golden" / "format-2"
EXPECTED = json.loads((FOLDER / "expected.json").read_text(encoding="utf-8"))
MODELS = sorted(EXPECTED["answers"])
ADDITIVE = {"nb", "tdm", "kdc", "knn", "hs", "hm", "refined", "plsa"}


def test_every_kind_of_model_has_a_file():
    assert {path.stem for path in FOLDER.glob("*.genus")} == set(MODELS)


@pytest.mark.parametrize("name", MODELS)
def test_an_old_file_answers_as_it_did(name):
    clf = TextClassifier.load(FOLDER / f"{name}.genus")
    then = EXPECTED["answers"][name]
    answers = clf.predict(EXPECTED["ask"])
    if name == "auto-sets":
        answers = [sorted(labels) for labels in answers]
    assert list(answers) == then["predict"]
    np.testing.assert_allclose(clf.predict_proba(EXPECTED["ask"]), then["proba"], rtol=1e-10, atol=1e-300)


@pytest.mark.parametrize("name", sorted(ADDITIVE))
def test_an_old_file_unlearns_what_it_learned(name):
    texts, labels = EXPECTED["texts"], EXPECTED["labels"]
    clf = TextClassifier.load(FOLDER / f"{name}.genus").unlearn(texts[:4], labels[:4])
    never = TextClassifier(name).fit(texts[4:], labels[4:])
    np.testing.assert_allclose(
        clf.predict_proba(EXPECTED["ask"]), never.predict_proba(EXPECTED["ask"]), rtol=1e-8, atol=1e-12
    )


@pytest.mark.parametrize("name", [*sorted(ADDITIVE), "dmnb"])
def test_an_old_file_learns_on(name):
    clf = TextClassifier.load(FOLDER / f"{name}.genus")
    clf.partial_fit(["where is my parcel", "the parcel is late"], ["network", "network"])
    before = TextClassifier.load(FOLDER / f"{name}.genus")
    column = clf.classes_.tolist().index("network")
    question = ["parcel late"]
    assert clf.predict_proba(question)[0, column] > before.predict_proba(question)[0, column]
