"""fastText, Vowpal Wabbit or river, timed from inside an interpreter of their own.

    python peers.py {fasttext,fasttext-tuned,fasttext-tuned-unordered,vowpalwabbit,river} TRAIN TEST N_CLASSES N_THREADS

prints one line of JSON: the seconds of training and of predicting, the accuracy and the version; of the tuned one
its answers too. This file runs in another environment than genus, and so imports nothing of it. Class numbers begin
at 1.
"""

import itertools
import json
import random
import sys
import tempfile
import time
from functools import partial
from importlib.metadata import version
from pathlib import Path

# One pass, as Vowpal Wabbit is used for large data; 2**22 weights are shared by all classes.
VW_OPTIONS = "--quiet --no_stdin --loss_function logistic -b 22"
FEW_WORDS = 200_000  # below, fastText may go through them a hundred times


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


def fasttext_tuned(train: str, test: str, n_classes: int, n_threads: int, pairs: bool = True) -> dict[str, object]:
    """The best of a grid on a held-out fifth of the training lines, trained again on all of them.

    Without `pairs` for words whose order says nothing.
    """
    import fasttext as ft

    ft.FastText.eprint = lambda *_: None
    lines = Path(train).read_text("utf-8").splitlines()
    random.Random(0).shuffle(lines)
    cut = max(len(lines) // 5, 1)

    def answers(model: object, asked: list[str]) -> list[str]:
        texts = [line.partition(" ")[2] for line in asked]
        return [labels[0] if labels else "" for labels in model.predict(texts)[0]]

    def share(model: object, asked: list[str]) -> float:
        pairs = zip(answers(model, asked), asked, strict=True)
        return sum(answer == line.partition(" ")[0] for answer, line in pairs) / len(asked)

    begin = time.perf_counter()
    best: tuple[float, dict[str, float]] = (-1.0, {})
    with tempfile.TemporaryDirectory() as folder:
        part, whole = f"{folder}/part", f"{folder}/whole"
        Path(part).write_text("\n".join(lines[cut:]) + "\n", "utf-8")
        Path(whole).write_text("\n".join(lines) + "\n", "utf-8")  # not by class, which it would not learn from
        epochs = (5, 25, 100) if sum(line.count(" ") for line in lines) < FEW_WORDS else (5, 25)
        for n, epoch, rate in itertools.product((1, 2) if pairs else (1,), epochs, (0.1, 0.5, 1.0)):
            point = {"wordNgrams": n, "epoch": epoch, "lr": rate}
            model = ft.train_supervised(part, thread=n_threads, verbose=0, bucket=200_000, **point)
            best = max(best, (share(model, lines[:cut]), point), key=lambda found: found[0])
        model = ft.train_supervised(whole, thread=n_threads, verbose=0, bucket=200_000, **best[1])
    trained = time.perf_counter()
    asked = Path(test).read_text("utf-8").splitlines()
    given = answers(model, asked)
    done = time.perf_counter()
    numbers = [int(label.removeprefix("__label__") or 0) for label in given]
    return {"train": trained - begin, "predict": done - trained, "accuracy": share(model, asked), "answers": numbers}


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
        "fasttext-tuned": (fasttext_tuned, "fasttext-wheel"),
        "fasttext-tuned-unordered": (partial(fasttext_tuned, pairs=False), "fasttext-wheel"),
        "vowpalwabbit": (vowpalwabbit, "vowpalwabbit"),
        "river": (river, "river"),
    }[name]
    facts = measure(train, test, int(n_classes), int(n_threads))
    print(json.dumps(facts | {"version": version(package)}))
