#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The AES S-box as four quadratic layers, derived and written out for C++.

The inversion of GF(2^8) goes down the tower GF(2^8), GF(16), GF(4) by norms and
up again, so that a party sends 18 bits in 4 layers (replicated sharing: one bit
per output bit of a layer; squares are linear, and in GF(4) so is inversion):

  1. d = a a^16             a's norm in GF(16), 4 bits   quadratic in a
  2. q = d d^4              d's norm in GF(4), 2 bits    quadratic in d
  3. e = d^-1 = d^4 q^2     4 bits                       quadratic in (d, q)
  4. a^-1 = a^16 e          8 bits                       quadratic in (a, e)

Layers 2 and 3 are one product over GF(2^8) for who verifies them: with w outside
GF(16), d^4 (d + w q^2) = q + w e.

Everything is checked here over all 256 inputs before a line is written.
Output: a header with constants and the terms of layers 2 and 3, one source for
all backends. Usage: sbox.py > sbox_constants.h
"""

AES_POLY = 0x11B


def mul(a: int, b: int) -> int:
    """Product in the AES field GF(2)[x]/(x^8+x^4+x^3+x+1)."""
    r = 0
    while b:
        if b & 1:
            r ^= a
        a <<= 1
        if a & 0x100:
            a ^= AES_POLY
        b >>= 1
    return r


def power(a: int, n: int) -> int:
    r = 1
    for _ in range(n):
        r = mul(r, a)
    return r


def subfield_generator() -> int:
    """z of GF(16) in GF(2^8) with z^4 = z + 1."""
    return next(z for z in range(2, 256) if power(z, 4) == z ^ 1)


Z = subfield_generator()
BASIS = [power(Z, k) for k in range(4)]


def embed(nibble: int) -> int:
    """Coordinates over (1, z, z^2, z^3) -> the byte."""
    r = 0
    for k in range(4):
        if nibble >> k & 1:
            r ^= BASIS[k]
    return r


NIBBLE_OF = {embed(n): n for n in range(16)}


def matrix_of(function) -> list[int]:
    """Columns of a GF(2)-linear map on 8 bits: the images of the unit vectors."""
    columns = [function(1 << k) for k in range(8)]
    for a in range(256):
        image = 0
        for k in range(8):
            if a >> k & 1:
                image ^= columns[k]
        assert image == function(a), "not linear"
    return columns


def gfni(columns: list[int]) -> int:
    """The operand of GF2P8AFFINEQB: byte 7-i of the quadword is row i."""
    word = 0
    for row in range(8):
        bits = 0
        for k in range(8):
            bits |= (columns[k] >> row & 1) << k
        word |= bits << 8 * (7 - row)
    return word


def project(byte: int) -> int:
    """A linear map that takes an embedded nibble back to its coordinates.

    Defined on all bytes by completing the basis of the subfield with bytes
    that go to zero.
    """
    return _PROJECT[byte]


def _make_project() -> list[int]:
    basis = [(BASIS[k], 1 << k) for k in range(4)]
    span = {0}
    for b, _ in basis:
        span |= {s ^ b for s in span}
    for candidate in (1 << k for k in range(8)):
        if candidate not in span:
            basis.append((candidate, 0))
            span |= {s ^ candidate for s in span}
    table = [0] * 256
    for mask in range(256):
        byte, image = 0, 0
        for k, (b, i) in enumerate(basis):
            if mask >> k & 1:
                byte ^= b
                image ^= i
        table[byte] = image
    return table


_PROJECT = _make_project()


def algebraic_normal_form(function, bits: int) -> list[int]:
    """Moebius transform: coefficient (an output mask) of each input monomial."""
    c = [function(x) for x in range(1 << bits)]
    for k in range(bits):
        for x in range(1 << bits):
            if x >> k & 1:
                c[x] ^= c[x ^ (1 << k)]
    return c


def inverse_nibble(n: int) -> int:
    return NIBBLE_OF[power(embed(n), 14)]


# GF(4) in GF(16): coordinates over (1, v).
PAIR_BASIS = [1, power(Z, 5)]


def embed_pair(pair: int) -> int:
    """Two bits -> the element of GF(4) as a byte."""
    return (PAIR_BASIS[0] if pair & 1 else 0) ^ (PAIR_BASIS[1] if pair & 2 else 0)


PAIR_OF = {embed_pair(p): p for p in range(4)}


def norm_terms() -> list[tuple[str, str | None, int]]:
    """Terms (left, right, output mask) of q in d0..d3; right None: linear."""
    terms = []
    norm = algebraic_normal_form(lambda n: PAIR_OF[power(embed(n), 5)], 4)
    for monomial, mask in enumerate(norm):
        names = [f"d{k}" for k in range(4) if monomial >> k & 1]
        if mask == 0:
            continue
        assert 1 <= len(names) <= 2, "the norm is quadratic"
        terms.append((names[0], names[1] if len(names) == 2 else None, mask))
    return terms


def invert_terms() -> list[tuple[str, str | None, int]]:
    """Terms of e = d^4 q^2, which are all products."""
    return [
        (f"d{i}", f"q{j}", NIBBLE_OF[mul(power(BASIS[i], 4), power(PAIR_BASIS[j], 2))])
        for i in range(4)
        for j in range(2)
    ]


OUTSIDE = next(w for w in range(256) if power(w, 16) != w)


def value_of(terms: list[tuple[str, str | None, int]], bit: dict[str, int]) -> int:
    value = 0
    for left, right, mask in terms:
        if bit[left] & (bit[right] if right else 1):
            value ^= mask
    return value


def check_layers() -> None:
    for a in range(256):
        d = NIBBLE_OF[power(a, 17)]
        bit = {f"d{k}": d >> k & 1 for k in range(4)}
        pair = value_of(norm_terms(), bit)
        bit["q0"], bit["q1"] = pair & 1, pair >> 1
        e = value_of(invert_terms(), bit)
        assert mul(power(a, 16), embed(e)) == power(a, 254), a
    for n in range(16):
        for pair in range(4):
            left, q = power(embed(n), 4), embed_pair(pair)
            right = embed(n) ^ mul(OUTSIDE, power(q, 2))
            e = mul(left, power(q, 2))
            assert mul(left, right) == mul(left, embed(n)) ^ mul(OUTSIDE, e)


def affine(a: int) -> int:
    """The linear part of the AES S-box's affine map (FIPS 197, section 5.1.1)."""
    r = 0
    for k in range(8):
        bit = 0
        for j in (0, 4, 5, 6, 7):
            bit ^= a >> (k + j) % 8 & 1
        r |= bit << k
    return r


AFFINE_INVERSE = {affine(a): a for a in range(256)}


def tower() -> tuple[list[int], list[int]]:
    """Columns of byte -> (h, l) with a = h y + l over GF(16), y^2 = y + 8, and back."""
    eight = embed(8)
    y = next(c for c in range(256) if mul(c, c) ^ c == eight and power(c, 16) != c)
    to_byte = {}
    for h in range(16):
        for low in range(16):
            to_byte[mul(embed(h), y) ^ embed(low)] = h << 4 | low
    back = {v: k for k, v in to_byte.items()}
    for a in range(256):
        h, low = to_byte[a] >> 4, to_byte[a] & 15
        norm = mul(eight, power(embed(h), 2)) ^ mul(embed(h), embed(low)) ^ power(embed(low), 2)
        assert norm == power(a, 17), "the tower's norm is the field's"
        e = embed(inverse_nibble(NIBBLE_OF[norm]))
        inverse = mul(embed(h), e), mul(embed(h ^ low), e)
        assert mul(inverse[0], y) ^ inverse[1] == power(a, 254)
    return matrix_of(lambda a: to_byte[a]), matrix_of(lambda v: back[v])


def emit_matrix(name: str, columns: list[int], note: str) -> None:
    print(f"// {note}")
    print(f"inline constexpr std::uint64_t k{name} = 0x{gfni(columns):016x};")
    listed = ", ".join(f"0x{c:02x}" for c in columns)
    print(f"inline constexpr std::uint8_t k{name}Columns[8] = {{{listed}}};\n")


def project_pair(byte: int) -> int:
    """A linear map that takes an embedded element of GF(4) back to its two bits."""
    # Over (1, z, z^2, z^3) an element c0 + c1 v has c1 at v's highest coordinate.
    top = NIBBLE_OF[PAIR_BASIS[1]].bit_length() - 1
    nibble = project(byte)
    high = nibble >> top & 1
    low = (nibble ^ (NIBBLE_OF[PAIR_BASIS[1]] if high else 0)) & 1
    return low | high << 1


def emit_terms(name: str, note: str, terms: list[tuple[str, str | None, int]]) -> None:
    print(f"// {note}.")
    print(f"#define TKDC_SBOX_{name}_TERMS(LINEAR, PRODUCT) \\")
    for n, (left, right, mask) in enumerate(terms):
        text = f"LINEAR({left}, {mask})" if right is None else f"PRODUCT({left}, {right}, {mask})"
        print("  " + text + (" \\" if n + 1 < len(terms) else ""))
    print()


def main() -> None:
    check_layers()
    assert all(project_pair(embed_pair(p)) == p for p in range(4))
    to_tower, from_tower = tower()
    print("// Generated by circuits/sbox.py; do not edit.\n#pragma once\n#include <cstdint>\n")
    print("namespace tkdc::sbox {\n")
    print("// Linear maps on a byte: the operand of GF2P8AFFINEQB, and the columns.\n")
    emit_matrix("Conjugate", matrix_of(lambda a: power(a, 16)), "a -> a^16")
    emit_matrix("Project", matrix_of(project), "embedded GF(16) element -> nibble")
    emit_matrix("Fourth", matrix_of(lambda a: power(embed(a & 15), 4)), "low nibble -> its d^4")
    emit_matrix("FourthHigh", matrix_of(lambda a: power(embed(a >> 4), 4)), "high nibble -> d^4")
    emit_matrix("PairSquare", matrix_of(lambda a: power(embed_pair(a & 3), 2)),
                "bits 0 and 1 -> q^2")
    emit_matrix("PairSquareHigh", matrix_of(lambda a: power(embed_pair(a >> 4 & 3), 2)),
                "bits 4 and 5 -> q^2")
    emit_matrix("ProjectPair", matrix_of(project_pair), "embedded GF(4) element -> two bits")
    emit_matrix("Embed", matrix_of(lambda a: embed(a & 15)), "low nibble -> embedded element")
    emit_matrix("EmbedHigh", matrix_of(lambda a: embed(a >> 4)), "high nibble -> embedded element")
    emit_matrix("Affine", matrix_of(affine), "linear part of SubBytes after the inversion")
    emit_matrix("AffineInverse", matrix_of(lambda a: AFFINE_INVERSE[a]), "its inverse")
    emit_matrix("ToTower", to_tower, "byte -> h << 4 | l, a = h y + l, y^2 = y + 8")
    emit_matrix("FromTowerAffine", matrix_of(lambda v: affine(_apply(from_tower, v))),
                "tower -> byte, then SubBytes' linear part")
    emit_matrix("FromTower", from_tower, "tower -> byte")
    emit_matrix("AffineInverseToTower",
                matrix_of(lambda v: _apply(to_tower, AFFINE_INVERSE[v])),
                "inverse of SubBytes' linear part, then byte -> tower")
    listed = ", ".join(f"0x{embed_pair(1 << k):02x}" for k in range(2))
    print(f"// The images of the two bits of q.\ninline constexpr std::uint8_t kPairBasis[2] = "
          f"{{{listed}}};")
    print("// An element outside GF(16).")
    print(f"inline constexpr std::uint8_t kOutside = 0x{OUTSIDE:02x};\n")
    emit_terms("NORM", "q = d^5 in GF(4): LINEAR(x, mask), PRODUCT(x, y, mask); bit k of mask: in "
               "q_k", norm_terms())
    emit_terms("INVERT", "e = d^-1 in GF(16), the same", invert_terms())
    emit_tower_terms()
    print("}  // namespace tkdc::sbox")


def nibble_product(a: int, b: int) -> int:
    """Product in GF(16), on coordinates."""
    return NIBBLE_OF[mul(embed(a), embed(b))]


def tower_norm_terms() -> list[tuple[str, str | None, int]]:
    """Terms of layer 1 in the tower: d = 8 h^2 + h l + l^2; squares are linear."""
    terms: list[tuple[str, str | None, int]] = []
    for k in range(4):
        square = nibble_product(1 << k, 1 << k)
        terms += [(f"l{k}", None, square), (f"h{k}", None, nibble_product(8, square))]
    return terms + [(f"h{i}", f"l{j}", nibble_product(1 << i, 1 << j))
                    for i in range(4) for j in range(4)]


def emit_tower_terms() -> None:
    """Layers 1 and 4 for bit-sliced backends whose loops over coefficients must be unrolled."""
    terms = tower_norm_terms()
    for h in range(16):
        for low in range(16):
            bit = {f"{x}{k}": v >> k & 1 for x, v in (("h", h), ("l", low)) for k in range(4)}
            assert value_of(terms, bit) == nibble_product(8, nibble_product(h, h)) \
                ^ nibble_product(h, low) ^ nibble_product(low, low)
    emit_terms("TOWER_NORM", "d = 8 h^2 + h l + l^2 in GF(16), the same", terms)
    emit_terms("GF16_PRODUCT", "A product in GF(16) of a0..a3 and b0..b3, the same",
               [(f"a{i}", f"b{j}", nibble_product(1 << i, 1 << j))
                for i in range(4) for j in range(4)])


def _apply(columns: list[int], v: int) -> int:
    r = 0
    for k in range(8):
        if v >> k & 1:
            r ^= columns[k]
    return r


if __name__ == "__main__":
    main()
