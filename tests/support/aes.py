# SPDX-License-Identifier: Apache-2.0
"""AES and SHA-1's compression in plain Python, for the search for key material.

The standard library has neither; round keys and inner hash states are what the search
looks for, so no library that hides them would do. Slow and not constant-time: test tool only.
"""

import struct


def _xtime(a: int) -> int:
    return (a << 1) ^ (0x11B if a & 0x80 else 0)


def _gf_mul(a: int, b: int) -> int:
    product = 0
    while b:
        if b & 1:
            product ^= a
        a, b = _xtime(a), b >> 1
    return product


def _make_sbox() -> list[int]:
    inverse = [0] * 256
    for a in range(1, 256):
        if not inverse[a]:
            b = next(b for b in range(1, 256) if _gf_mul(a, b) == 1)
            inverse[a], inverse[b] = b, a
    box = []
    for a in inverse:
        rotations = [((a << n) | (a >> (8 - n))) & 0xFF for n in range(5)]
        value = 0x63
        for rotated in rotations:
            value ^= rotated
        box.append(value)
    return box


SBOX = _make_sbox()
MUL = {n: [_gf_mul(a, n) for a in range(256)] for n in (2, 3, 9, 11, 13, 14)}


def round_keys(key: bytes) -> list[bytes]:
    """FIPS 197, section 5.2: 11 or 15 round keys of 16 octets."""
    words = [key[i : i + 4] for i in range(0, len(key), 4)]
    key_words, rounds, rcon = len(words), len(words) + 6, 1
    while len(words) < 4 * (rounds + 1):
        word = words[-1]
        if len(words) % key_words == 0:
            word = bytes(SBOX[b] for b in word[1:] + word[:1])
            word = bytes([word[0] ^ rcon]) + word[1:]
            rcon = _xtime(rcon)
        elif key_words > 6 and len(words) % key_words == 4:
            word = bytes(SBOX[b] for b in word)
        words.append(bytes(x ^ y for x, y in zip(words[-key_words], word, strict=True)))
    return [b"".join(words[4 * r : 4 * r + 4]) for r in range(rounds + 1)]


def _mix(state: bytes, a: int, b: int, c: int, d: int) -> bytes:
    def times(n: int, x: int) -> int:
        return x if n == 1 else MUL[n][x]

    out = bytearray()
    for col in range(0, 16, 4):
        s = state[col : col + 4]
        for row in range(4):
            s0, s1, s2, s3 = (s[(row + k) % 4] for k in range(4))
            out.append(times(a, s0) ^ times(b, s1) ^ times(c, s2) ^ times(d, s3))
    return bytes(out)


def inverse_round_keys(keys: list[bytes]) -> list[bytes]:
    """The decryption schedule of the equivalent inverse cipher (FIPS 197, section 5.3.5)."""
    return [_mix(key, 14, 11, 13, 9) for key in keys[1:-1]]


def encrypt_block(keys: list[bytes], block: bytes) -> bytes:
    state = bytes(x ^ y for x, y in zip(block, keys[0], strict=True))
    for number, key in enumerate(keys[1:], 1):
        state = bytes(SBOX[b] for b in state)
        state = bytes(state[(i + 4 * (i % 4)) % 16] for i in range(16))  # ShiftRows
        if number < len(keys) - 1:
            state = _mix(state, 2, 3, 1, 1)
        state = bytes(x ^ y for x, y in zip(state, key, strict=True))
    return state


def sha1_state(block: bytes) -> bytes:
    """SHA-1's state after one 64-octet block (FIPS 180-4, section 6.1.2), big-endian."""

    def rotl(x: int, n: int) -> int:
        return ((x << n) | (x >> (32 - n))) & 0xFFFFFFFF

    start = (0x67452301, 0xEFCDAB89, 0x98BADCFE, 0x10325476, 0xC3D2E1F0)
    w = list(struct.unpack(">16I", block))
    for t in range(16, 80):
        w.append(rotl(w[t - 3] ^ w[t - 8] ^ w[t - 14] ^ w[t - 16], 1))
    a, b, c, d, e = start
    for t in range(80):
        if t < 20:
            f, k = (b & c) | (~b & d), 0x5A827999
        elif t < 40:
            f, k = b ^ c ^ d, 0x6ED9EBA1
        elif t < 60:
            f, k = (b & c) | (b & d) | (c & d), 0x8F1BBCDC
        else:
            f, k = b ^ c ^ d, 0xCA62C1D6
        turned = (rotl(a, 5) + (f & 0xFFFFFFFF) + e + k + w[t]) & 0xFFFFFFFF
        a, b, c, d, e = turned, a, rotl(b, 30), c, d
    end = (a, b, c, d, e)
    return struct.pack(">5I", *((x + y) & 0xFFFFFFFF for x, y in zip(start, end, strict=True)))
