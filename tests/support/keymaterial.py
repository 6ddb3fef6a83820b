# SPDX-License-Identifier: Apache-2.0
"""Everything that follows from a long-term key and would be worth stealing.

From one key: its round keys, the keys derived from it for each usage (RFC 3961, section 5.1;
RFC 3962), their round keys, the two SHA-1 states of each HMAC key, and, for keys in the
GCM form, H and its powers. The result is a list of names and octets for keyscan.
"""

import hashlib

from tests.support import aes

# Key usages (RFC 4120, section 7.5.1, and MIT's) that a KDC derives keys for.
USER_USAGES = (1, 3, 54, 55, 56)
KRBTGT_USAGES = (2, 17, 64, 514)
H_POWERS = 8

Values = list[tuple[str, bytes]]


def n_fold(data: bytes, size: int) -> bytes:
    """RFC 3961, section 5.1: copies rotated by 13 bits each, added in ones' complement."""
    bits = 8 * len(data)
    value = int.from_bytes(data, "big")
    copies = b""
    for n in range(_lcm(len(data), size) // len(data)):
        turn = 13 * n % bits
        rotated = (value >> turn | value << (bits - turn)) & ((1 << bits) - 1)
        copies += rotated.to_bytes(len(data), "big")
    total = sum(int.from_bytes(copies[i : i + size], "big") for i in range(0, len(copies), size))
    mask = (1 << 8 * size) - 1
    while total > mask:
        total = (total & mask) + (total >> 8 * size)
    return total.to_bytes(size, "big")


def _lcm(a: int, b: int) -> int:
    x, y = a, b
    while y:
        x, y = y, x % y
    return a * b // x


def derive(key: bytes, constant: bytes) -> bytes:
    """DK of RFC 3961 for AES: as many octets as the key has."""
    keys = aes.round_keys(key)
    block = constant if len(constant) == 16 else n_fold(constant, 16)
    out = b""
    while len(out) < len(key):
        block = aes.encrypt_block(keys, block)
        out += block
    return out[: len(key)]


def string_to_key(password: str, salt: str, key_bytes: int, iterations: int = 4096) -> bytes:
    """RFC 3962, section 4."""
    seed = hashlib.pbkdf2_hmac("sha1", password.encode(), salt.encode(), iterations, key_bytes)
    return derive(seed, b"kerberos")


def aes_values(name: str, key: bytes) -> Values:
    keys = aes.round_keys(key)
    values = [(name, key)] if len(key) > 16 else []
    values += [(f"{name}.round-key-{i}", k) for i, k in enumerate(keys)]
    values += [(f"{name}.inverse-{i}", k) for i, k in enumerate(aes.inverse_round_keys(keys), 1)]
    return values


def hmac_values(name: str, key: bytes) -> Values:
    padded = key.ljust(64, b"\0")
    inner = aes.sha1_state(bytes(b ^ 0x36 for b in padded))
    outer = aes.sha1_state(bytes(b ^ 0x5C for b in padded))
    return [(name, key), (f"{name}.inner-pad-state", inner), (f"{name}.outer-pad-state", outer)]


def rfc3962_values(name: str, key: bytes, usages: tuple[int, ...]) -> Values:
    values = aes_values(name, key)
    for usage in usages:
        label = usage.to_bytes(4, "big")
        values += aes_values(f"{name}.u{usage}.Ke", derive(key, label + b"\xaa"))
        values += hmac_values(f"{name}.u{usage}.Ki", derive(key, label + b"\x55"))
        values += hmac_values(f"{name}.u{usage}.Kc", derive(key, label + b"\x99"))
    return values


def _gf128_mul(x: int, y: int) -> int:
    """SP 800-38D, section 6.3; bit 0 is the leftmost."""
    z = 0
    for i in range(127, -1, -1):
        if y >> i & 1:
            z ^= x
        x = x >> 1 ^ (0xE1 << 120 if x & 1 else 0)
    return z


def h_values(name: str, h: bytes) -> Values:
    values, power, base = [], int.from_bytes(h, "big"), int.from_bytes(h, "big")
    for n in range(1, H_POWERS + 1):
        values.append((f"{name}^{n}", power.to_bytes(16, "big")))
        power = _gf128_mul(power, base)
    return values


def gcm_values(name: str, key: bytes) -> Values:
    h = aes.encrypt_block(aes.round_keys(key), bytes(16))
    return aes_values(name, key) + h_values(f"{name}.H", h)
