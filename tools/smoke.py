"""Try the installed genus, from wherever it was installed: smoke.py

It runs each family of models, the command line and the characters of this interpreter, and needs only what genus needs.
"""

import subprocess
import sys
import tempfile
import unicodedata
from pathlib import Path

import genus
from genus import TextClassifier, Vectorizer, load
from genus._registry import MODELS

TEXTS = [
    "my card was charged twice",
    "refund the wrong charge",
    "the printer is out of paper",
    "printer jams again",
] * 5
LABELS = ["money/card", "money/card", "office/printer", "office/printer"] * 5


def check_every_character() -> None:
    """Lower case and words equal str.lower and str.isalnum."""
    letters = [chr(code) for code in range(1, sys.maxunicode + 1)]
    found = Vectorizer(token_pattern=r"\w+").fit(letters).get_feature_names_out()
    expected = {"".join(c for c in letter.lower() if c.isalnum() or c == "_") for letter in letters}
    assert set(found) == expected - {""}, f"other words than those of Unicode {unicodedata.unidata_version}"


def check_models(folder: Path) -> None:
    for model in ("auto", *MODELS):
        classifier = TextClassifier(model).fit(TEXTS, LABELS)
        answers = classifier.predict(TEXTS).tolist()
        assert answers == LABELS, f"{model} answers {answers}"
        classifier.save(folder / "model.genus")
        assert load(folder / "model.genus").predict(TEXTS).tolist() == answers, f"{model} answers otherwise when loaded"


def check_command_line(folder: Path) -> None:
    rows = [f"{text},{label}" for text, label in zip(TEXTS, LABELS, strict=True)]
    (folder / "tickets.csv").write_text("\n".join(["text,label", *rows]), encoding="utf-8")
    train = ["train", str(folder / "tickets.csv"), "--out", str(folder / "tickets.genus")]
    for arguments in (train, ["explain", str(folder / "tickets.genus"), "a paper charge"], ["--version"]):
        subprocess.run([sys.executable, "-m", "genus.cli", *arguments], check=True, capture_output=True)


if __name__ == "__main__":
    check_every_character()
    with tempfile.TemporaryDirectory() as name:
        check_models(Path(name))
        check_command_line(Path(name))
    print(f"genus {genus.__version__} works on Python {sys.version.split()[0]}")
