"""The sentence encoder that the table of word vectors is fitted to: all-MiniLM-L6-v2 (see NOTICE)."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import torch
from tokenizers import Tokenizer
from torch.nn.functional import normalize
from transformers import AutoModel

NAME = "all-MiniLM-L6-v2"
SHA256 = "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db"  # of model.safetensors

Tensor = torch.Tensor


class Teacher:
    """A sentence encoder of the BERT kind: the mean of the last layer's vectors, scaled to length one."""

    def __init__(self, folder: Path, device: str, max_length: int = 256) -> None:
        self.tokenizer = Tokenizer.from_file(str(folder / "tokenizer.json"))
        self.tokenizer.no_padding()
        self.tokenizer.enable_truncation(max_length)
        dtype = torch.float16 if device == "cuda" else torch.float32
        self.model = AutoModel.from_pretrained(str(folder)).to(device, dtype).eval()
        self.device = device

    def vocabulary(self) -> list[str]:
        """The words and the pieces ("##ing") of letters and digits, in the teacher's order."""
        known = self.tokenizer.get_vocab()
        return [name for name in sorted(known, key=known.__getitem__) if re.fullmatch(r"(##)?[a-z0-9]+", name)]

    def encode(self, texts: Sequence[str], chunk: int = 1 << 17) -> Tensor:
        """A row of length one for each text, in half precision."""
        parts = []
        for begin in range(0, len(texts), chunk):
            found = self.tokenizer.encode_batch_fast(list(texts[begin : begin + chunk]))
            parts.append(self.encode_ids([text.ids for text in found]))
        return torch.cat(parts)

    def encode_pieces(self, pieces: Sequence[str]) -> Tensor:
        """The vectors of pieces in the teacher's own vocabulary; zero where it has no such piece."""
        ids = self.tokenizer.get_vocab()
        known = torch.tensor([piece in ids for piece in pieces], device=self.device).unsqueeze(1)
        return self.encode_ids([[ids["[CLS]"], ids.get(piece, 0), ids["[SEP]"]] for piece in pieces]) * known

    @torch.inference_mode()
    def encode_ids(self, ids: Sequence[Sequence[int]], tokens_per_batch: int = 1 << 16) -> Tensor:
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
    if found != SHA256:
        raise SystemExit(f"{folder / 'model.safetensors'}: expected the weights of {NAME}, got {found}")
