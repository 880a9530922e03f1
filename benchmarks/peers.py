"""fastText, Vowpal Wabbit or river, timed from inside an interpreter of their own.

    python peers.py {fasttext,vowpalwabbit,river} TRAIN TEST N_CLASSES N_THREADS

prints one line of JSON: the seconds of training and of predicting, the accuracy and the version. This file
runs in another environment than genus, and so imports nothing of it. Class numbers begin at 1.
"""

import json
import sys
import tempfile
import time
from importlib.metadata import version
from pathlib import Path

# One pass, as Vowpal Wabbit is used for large data; 2**22 weights are shared by all classes.
VW_OPTIONS = "--quiet --no_stdin --loss_function logistic -b 22"


def fasttext(train: str, test: str, n_classes: int, n_threads: int) -> dict[str, float]:
    import fasttext as ft

    ft.FastText.eprint = lambda *_: None  # a warning meant for an older interface
    lines = Path(test).read_text("utf-8").splitlines()
    labels, texts = zip(*(line.split(" ", 1) for line in lines), strict=True)
    begin = time.perf_counter()
    model = ft.train_supervised(train, epoch=5, thread=n_threads, verbose=0)
    trained = time.perf_counter()
    predicted, _ = model.predict(list(texts))
    done = time.perf_counter()
    right = sum(p[0] == label for p, label in zip(predicted, labels, strict=True))
    return {"train": trained - begin, "predict": done - trained, "accuracy": right / len(labels)}


def vowpalwabbit(train: str, test: str, n_classes: int, n_threads: int) -> dict[str, float]:
    from vowpalwabbit import Workspace

    with tempfile.TemporaryDirectory() as folder:
        model, answers = f"{folder}/model", f"{folder}/answers"
        begin = time.perf_counter()
        Workspace(f"{VW_OPTIONS} --oaa {n_classes} -d {train} -f {model}").finish()
        trained = time.perf_counter()
        Workspace(f"--quiet --no_stdin -t -i {model} -d {test} -p {answers}").finish()
        done = time.perf_counter()
        predicted = [float(line) for line in Path(answers).read_text("utf-8").split()]
    labels = [float(line.split(" ", 1)[0]) for line in Path(test).read_text("utf-8").splitlines()]
    right = sum(p == label for p, label in zip(predicted, labels, strict=True))
    return {"train": trained - begin, "predict": done - trained, "accuracy": right / len(labels)}


def river(train: str, test: str, n_classes: int, n_threads: int) -> dict[str, float]:
    from river import feature_extraction, naive_bayes

    model = feature_extraction.BagOfWords() | naive_bayes.MultinomialNB()
    pairs, questions = (
        [line.split(" ", 1) for line in Path(file).read_text("utf-8").splitlines()] for file in (train, test)
    )
    begin = time.perf_counter()
    for label, text in pairs:
        model.learn_one(text, label)
    trained = time.perf_counter()
    right = sum(model.predict_one(text) == label for label, text in questions)
    done = time.perf_counter()
    return {"train": trained - begin, "predict": done - trained, "accuracy": right / len(questions)}


if __name__ == "__main__":
    name, train, test, n_classes, n_threads = sys.argv[1:]
    measure, package = {
        "fasttext": (fasttext, "fasttext-wheel"),
        "vowpalwabbit": (vowpalwabbit, "vowpalwabbit"),
        "river": (river, "river"),
    }[name]
    facts = measure(train, test, int(n_classes), int(n_threads))
    print(json.dumps(facts | {"version": version(package)}))
