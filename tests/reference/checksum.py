"""The checksum of arrays in model files, one word at a time."""

from __future__ import annotations

KEYS = (
    0x9E3779B97F4A7C15, 0xD1B54A32D192ED03, 0xABC98388FB8FAC03, 0x8CB92BA72F3D8DD7,
    0xA24BAED4963EE407, 0x9FB21C651E98DF25, 0xC13FA9A902A6328F, 0x91E10DA5C79E7B1D,
)  # fmt: skip


def fold(x: int, y: int) -> int:
    return (x * y) & (2**64 - 1) ^ (x * y) >> 64


def checksum(data: bytes) -> int:
    padded = data + bytes(-len(data) % 64)
    words = [int.from_bytes(padded[i : i + 8], "little") for i in range(0, len(padded), 8)]
    sums = [0, 0, 0, 0]
    for i, (a, b) in enumerate(zip(words[::2], words[1::2], strict=True)):
        lane = i % 4
        sums[lane] = fold(a ^ KEYS[lane] ^ sums[lane], b ^ KEYS[lane + 4])
    total = len(data) ^ KEYS[0]
    for lane in range(4):
        total = fold(total ^ KEYS[lane + 4], sums[lane] ^ KEYS[lane])
    return total
