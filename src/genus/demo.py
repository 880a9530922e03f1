"""A demonstration on real texts that come with every Python: the docstrings of its standard library.

Sources are parsed, not imported. Only modules written in C are imported, since they have no source; importing
those has no side effects.
"""

from __future__ import annotations

import ast
import inspect
import sys
import sysconfig
import time
import zlib
from collections import Counter
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, Self

import numpy as np

from genus.classifier.text_classifier import TextClassifier
from genus.explain import Explanation
from genus.report import Evaluation, evaluate

if TYPE_CHECKING:
    from types import ModuleType

    from rich.console import Console, ConsoleOptions, RenderResult

# The chapters of the Python library reference, the smallest merged with a similar one. Superseded modules are left
# out, since the reference sorts them by age and not by topic, and so are graphical ones, which not every Python has.
CHAPTERS = {
    "built-ins": "builtins",
    "text processing": "string re difflib textwrap unicodedata stringprep readline rlcompleter",
    "binary data": "struct codecs",
    "data types": "datetime zoneinfo calendar collections heapq bisect array weakref types copy pprint "
    "reprlib enum graphlib",
    "mathematics": "numbers math cmath decimal fractions random statistics",
    "functional programming": "itertools functools operator",
    "files and directories": "pathlib stat filecmp tempfile glob fnmatch linecache shutil",
    "data persistence": "pickle copyreg shelve marshal dbm sqlite3",
    "compression": "zlib gzip bz2 lzma zipfile tarfile",
    "file formats": "csv configparser tomllib netrc plistlib",
    "cryptography": "hashlib hmac secrets",
    "operating system": "os io time logging platform errno ctypes",
    "command line": "argparse optparse getopt getpass fileinput curses cmd shlex",
    "concurrent execution": "threading multiprocessing concurrent subprocess sched queue contextvars",
    "networking": "asyncio socket ssl select selectors signal mmap",
    "internet data": "email json mailbox mimetypes base64 binascii quopri",
    "markup": "html xml",
    "internet protocols": "webbrowser wsgiref urllib http ftplib poplib imaplib smtplib uuid socketserver "
    "xmlrpc ipaddress",
    "multimedia": "wave colorsys",
    "internationalization": "gettext locale",
    "development tools": "typing pydoc doctest unittest",
    "debugging": "bdb faulthandler pdb pstats profile cProfile timeit trace tracemalloc",
    "runtime services": "sys sysconfig warnings dataclasses contextlib abc atexit traceback gc inspect site",
    "importing": "code codeop zipimport pkgutil modulefinder runpy importlib",
    "language services": "ast symtable tokenize keyword token tabnanny pyclbr py_compile compileall dis pickletools",
    "unix": "pwd grp termios tty pty fcntl resource syslog",
}
_CHAPTER = {module: chapter for chapter, modules in CHAPTERS.items() for module in modules.split()}
_PARTS = {
    "os": ["posix", "posixpath", "genericpath"],
    "xml": ["pyexpat"],
}  # modules that users know by another name
_MIN_TEXTS, _MAX_TEXTS = 10, 40  # per module: enough to learn from, few enough for a demonstration of seconds

QUESTIONS = (
    "find the median of a list",
    "parse command line options",
    "send an email over SMTP",
    "unpack a tar archive",
    "match a string against a pattern",
    "pick a random element",
    "hash a password",
    "list all files in a folder",  # answered wrongly, and the reason shows: folders of mail
    "bake a chocolate cake",  # about none of the modules
)
VAGUE_QUESTIONS = (
    "parse an xml document",
    "logarithm",  # of math, cmath and decimal
    "open a connection to a server",
    "wait for a process to end",  # too vague even for a chapter
)
REJECT, MIN_PROBA = 0.05, 0.7
RECIPES = (
    "preheat the oven and bake the cake",
    "melt the chocolate with butter and sugar",
    "stir flour and sugar into the dough",
)
RECIPE_LABEL = "kitchen/baking"


class Item(NamedTuple):
    """The docstring of one function, class or method."""

    module: str
    text: str

    @property
    def label(self) -> str:
        """A path in the tree of classes: chapter/module."""
        return f"{_CHAPTER[self.module]}/{self.module}"


def documented() -> list[Item]:
    """Docstrings of this Python's library, each once, of modules that have enough of them."""
    first: dict[str, Item] = {}
    for module in sorted(_CHAPTER):
        for part in [module, f"_{module}", *_PARTS.get(module, ())]:
            for text in _strings(part):
                first.setdefault(text, Item(module, text))
    by_module: dict[str, list[Item]] = {}
    for item in first.values():
        by_module.setdefault(item.module, []).append(item)
    chosen = (sorted(own, key=_hash)[:_MAX_TEXTS] for own in by_module.values() if len(own) >= _MIN_TEXTS)
    return [item for own in chosen for item in own]


def _hash(item: Item) -> int:
    """From the text itself: the choice and the split are the same whatever the order, for any Python with this text."""
    return zlib.crc32(item.text.encode())


def _strings(module: str) -> Iterator[str]:
    sources = _sources(module)
    if sources and not module.startswith("_"):  # those implement a public module
        for source in sources:
            yield from _from_source(ast.parse(source.read_bytes()))
    elif not sources and module in sys.stdlib_module_names:
        try:
            yield from _from_native(import_module(module))
        except ImportError:  # not on this system
            return


def _sources(module: str) -> list[Path]:
    library = Path(sysconfig.get_path("stdlib"))
    single, package = library / f"{module}.py", library / module
    if single.is_file():
        return [single]
    return sorted(path for path in package.rglob("*.py") if not {"test", "tests", "__main__.py"} & set(path.parts))


def _from_source(node: ast.Module | ast.ClassDef) -> Iterator[str]:
    for inner in node.body:
        if isinstance(inner, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)) and inner.name[0] != "_":
            text = ast.get_docstring(inner)
            if text:
                yield text
            if isinstance(inner, ast.ClassDef):
                yield from _from_source(inner)


def _from_native(holder: ModuleType | type) -> Iterator[str]:
    for name, value in sorted(vars(holder).items()):
        if name.startswith("_") or not callable(value):
            continue
        text = getattr(value, "__doc__", None)
        if isinstance(text, str) and text:
            yield inspect.cleandoc(text)
        if inspect.isclass(value) and not inspect.isclass(holder):
            yield from _from_native(value)


class NodeAnswer(NamedTuple):
    """The most probable module, and the deepest node of the tree that is probable enough."""

    question: str
    module: str
    module_probability: float
    node: str
    node_probability: float


@dataclass(frozen=True)
class Unlearning:
    """An answer before a new class is learned, with it, and after it was unlearned."""

    question: str
    before: str
    learned: str
    learned_probability: float
    after: str
    n_compared: int  # held-out texts
    identical: bool  # all their probabilities, bit for bit, before learning and after unlearning


@dataclass(frozen=True)
class Demo:
    """The results of the demonstration."""

    n_train: int
    n_test: int
    seconds: float  # to compare the candidates and train the pool
    n_words: int
    leaderboard: list[dict[str, Any]]
    modules: Evaluation
    n_chapters: int
    chapter_accuracy: float
    most_common: float  # accuracy of always predicting the largest module
    answers: tuple[Explanation, ...]
    node_answers: tuple[NodeAnswer, ...]
    unlearning: Unlearning

    @classmethod
    def run(cls) -> Self:
        items = documented()
        train = [item for item in items if _hash(item) % 5]
        test = [item for item in items if not _hash(item) % 5]
        texts, tests = [item.text for item in train], [item.text for item in test]
        begin = time.perf_counter()
        clf = TextClassifier().fit(texts, [item.label for item in train])
        seconds = time.perf_counter() - begin
        truth = np.array([_CHAPTER[item.module] for item in test])
        largest = Counter(item.module for item in train).most_common(1)[0][0]
        return cls(
            n_train=len(train),
            n_test=len(test),
            seconds=seconds,
            n_words=clf.vectorizer_.n_columns_,
            leaderboard=clf.leaderboard_,
            modules=evaluate(clf, tests, [item.label for item in test]),
            n_chapters=len({_CHAPTER[item.module] for item in items}),
            chapter_accuracy=float((clf.predict(tests, level=1) == truth).mean()),
            most_common=sum(item.module == largest for item in test) / len(test),
            answers=tuple(clf.explain(question) for question in QUESTIONS),
            node_answers=_node_answers(clf),
            unlearning=_unlearning(clf, tests),
        )

    def to_dict(self) -> dict[str, object]:
        """Plain values, ready for JSON; the same on every run of one Python."""
        return {
            "python": sys.version.split()[0],
            "training_texts": self.n_train,
            "held_out_texts": self.n_test,
            "words": self.n_words,
            "leaderboard": [{k: v for k, v in row.items() if k != "seconds"} for row in self.leaderboard],
            "modules": self.modules.n_classes,
            "module_accuracy": self.modules.accuracy,
            "chapters": self.n_chapters,
            "chapter_accuracy": self.chapter_accuracy,
            "most_common_module_accuracy": self.most_common,
            "mistakes": [
                {"text": m.text, "truth": m.truth, "predicted": m.predicted, "confidence": m.confidence}
                for m in self.modules.mistakes[:4]
            ],
            "answers": [why.to_dict() for why in self.answers],
            "node_answers": [answer._asdict() for answer in self.node_answers],
            "unlearning": asdict(self.unlearning),
        }

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        from rich import box
        from rich.table import Table
        from rich.text import Text

        def heading(text: str) -> Text:
            return Text(f"\n{text}", "bold")

        def table(*columns: str) -> Table:
            """Columns whose names begin with ">" are numbers; the one that begins with "~" is cut to fit."""
            made = Table(box=box.SIMPLE_HEAD, show_edge=False, header_style="dim")
            for name in columns:
                align: Literal["left", "right"] = "right" if name[:1] == ">" else "left"
                made.add_column(name.lstrip(">~"), justify=align, no_wrap=name[:1] != "~")
            return made

        def one_line(text: str) -> Text:
            return Text(" ".join(text.split())[:200], "dim", no_wrap=True, overflow="ellipsis")

        yield heading("Which module does a docstring of Python's standard library belong to?")
        yield Text(
            f"{self.n_train:,} docstrings of this Python ({sys.version.split()[0]}) are the training set: "
            f"{self.modules.n_classes} modules, in {self.n_chapters} chapters of the library reference."
        )

        yield heading("Automatic model selection")
        yield Text(
            f"{len(self.leaderboard)} candidates were compared by cross-validation and the best were pooled, "
            f"in {self.seconds:.1f} s. Candidates with a weight are in the pool:"
        )
        board = table("candidate", ">accuracy", ">macro F1", ">log loss", ">weight")
        for row in self._shown_candidates():
            weight = f"{row['weight']:.2f}" if row["weight"] > 0 else ""
            measured = (f"{row[name]:.3f}" for name in ("accuracy", "macro_f1", "log_loss"))
            board.add_row(row["candidate"], *measured, weight, style="" if weight else "dim")
        yield board

        yield heading(f"Accuracy on {self.n_test:,} held-out docstrings")
        scores = table("", ">classes", ">accuracy")
        scores.add_row("module", str(self.modules.n_classes), f"{self.modules.accuracy:.1%}")
        scores.add_row("chapter", str(self.n_chapters), f"{self.chapter_accuracy:.1%}")
        scores.add_row("always the largest module", "", f"{self.most_common:.1%}", style="dim")
        yield scores
        yield Text("The mistakes it was most confident about:")
        wrong = table("predicted", "true", "~docstring")
        for mistake in self.modules.mistakes[:3]:
            wrong.add_row(_module(mistake.predicted), _module(mistake.truth), one_line(mistake.text))
        yield wrong

        yield heading("Questions, answers and reasons")
        asked = table("question", "answer", ">prob.", "~because of")
        for why in self.answers:
            if _is_rejected(why):
                answer, reasons = Text("none of these", "bold red"), one_line("unlike all of them")
            else:
                answer = Text(_module(why.label), "bold green")
                reasons = one_line(", ".join(w.word for w in why.words if w.contribution > 0.5))
            asked.add_row(why.text, answer, f"{why.probability:.2f}", reasons)
        yield asked
        yield Text(
            f"Texts are rejected at a false-rejection rate of {REJECT:.0%}. One answer is wrong, and the reason shows: "
            "the folders that mailbox knows hold mail."
        )
        yield heading(f"Why {_module(self.answers[0].label)}? The contributions add up to the log odds")
        yield self.answers[0]

        yield heading(f"A tree of classes: the deepest answer with a probability of {MIN_PROBA:g} or more")
        nodes = table("question", "best module", "answer")
        for given in self.node_answers:
            module = f"{given.module} {given.module_probability:.2f}"
            node = Text.assemble((given.node, "bold green"), f" {given.node_probability:.2f}")
            nodes.add_row(given.question, module, node)
        yield nodes
        yield Text("(all) is the root: the model is not sure of any chapter.")

        done = self.unlearning
        yield heading("Learning a new class, and unlearning it exactly")
        steps = table("", f"{done.question!r} is about")
        steps.add_row("before", done.before)
        steps.add_row(f"{len(RECIPES)} recipes learned", f"{done.learned} ({done.learned_probability:.2f})")
        steps.add_row("the recipes unlearned", done.after)
        yield steps
        same = "identical, bit for bit," if done.identical else "NOT identical"
        yield Text(f"Probabilities of all {done.n_compared:,} held-out docstrings are {same} before and after.")

        yield heading("With your own texts")
        for command in (
            "genus train mail.csv --out mail.genus          choose, train and save a model",
            'genus explain mail.genus "win a prize now"     the label, and why',
            "genus evaluate mail.genus more.csv --report mail.html",
        ):
            yield Text(f"  {command}")

    def _shown_candidates(self) -> list[dict[str, Any]]:
        """The pool, and the best candidate of every other kind for comparison."""
        best: dict[str, dict[str, Any]] = {}
        for row in self.leaderboard:
            best.setdefault(row["candidate"], row)
        names = ("tree", "naive Bayes")
        others = [best[name] for name in names if name in best and best[name]["weight"] <= 0]
        return [row for row in self.leaderboard if row["weight"] > 0] + others


def _node_answers(clf: TextClassifier) -> tuple[NodeAnswer, ...]:
    labels, probabilities = clf.predict_top(VAGUE_QUESTIONS, k=1)
    nodes, node_probabilities = clf.predict_nodes(VAGUE_QUESTIONS, min_proba=MIN_PROBA)
    return tuple(
        NodeAnswer(question, _module(label), float(p), str(node), float(node_p))
        for question, label, p, node, node_p in zip(
            VAGUE_QUESTIONS, labels[:, 0], probabilities[:, 0], nodes, node_probabilities, strict=True
        )
    )


def _unlearning(clf: TextClassifier, tests: list[str]) -> Unlearning:
    """Learn a class that has nothing to do with the others, and take it back."""
    question = QUESTIONS[-1]
    probabilities, before = clf.predict_proba(tests), clf.explain(question)
    clf.partial_fit(RECIPES, [RECIPE_LABEL] * len(RECIPES))
    learned = clf.explain(question)
    clf.unlearn(RECIPES, [RECIPE_LABEL] * len(RECIPES))
    after = clf.explain(question)
    return Unlearning(
        question,
        _answer(before),
        _answer(learned),
        learned.probability,
        _answer(after),
        len(tests),
        np.array_equal(probabilities, clf.predict_proba(tests)),
    )


def _answer(why: Explanation) -> str:
    return "none of these" if _is_rejected(why) else _module(why.label)


def _is_rejected(why: Explanation) -> bool:
    return why.typicality is not None and why.typicality < REJECT


def _module(label: object) -> str:
    """The last part of a path."""
    return str(label).rpartition("/")[2]
