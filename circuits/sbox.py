#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The AES S-box as four quadratic layers, derived and written out for C++.

The inversion of GF(2^8) splits over its subfield GF(16) so that a party sends
18 bits in 4 layers (replicated sharing: one bit per output bit of a layer):

  1. d  = a^17              the norm, 4 bits           quadratic in a
  2. q1 = d0 d1, q2 = d2 d3 2 bits                     quadratic in d
  3. e  = d^-1              4 bits, cubic in d; its cubic monomials are all of
                            the form q*d, so quadratic in (d, q1, q2)
  4. a^-1 = a^16 e          8 bits                     quadratic in (a, e)

Everything is checked here over all 256 inputs before a line is written.
Output: a header with constants and the terms of layer 3, one source for all
backends. Usage: sbox.py > sbox_constants.h
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


def layer3_terms() -> list[tuple[str, str | None, int]]:
    """Terms (left, right, output mask) of e in d0..d3, q1, q2; right None: linear."""
    product_of = {0b0011: "q1", 0b1100: "q2"}
    terms = []
    for monomial, mask in enumerate(algebraic_normal_form(inverse_nibble, 4)):
        if mask == 0:
            continue
        names = [k for k in range(4) if monomial >> k & 1]
        if monomial in product_of:
            terms.append((product_of[monomial], None, mask))
        elif len(names) == 1:
            terms.append((f"d{names[0]}", None, mask))
        elif len(names) == 2:
            terms.append((f"d{names[0]}", f"d{names[1]}", mask))
        elif len(names) == 3:
            pair = 0b0011 if monomial & 0b0011 == 0b0011 else 0b1100
            rest = next(k for k in names if not pair >> k & 1)
            terms.append((product_of[pair], f"d{rest}", mask))
        else:
            raise AssertionError("inversion in GF(16) has degree 3")
    return terms


def check_layers() -> None:
    terms = layer3_terms()
    for a in range(256):
        d = NIBBLE_OF[power(a, 17)]
        bit = {f"d{k}": d >> k & 1 for k in range(4)}
        bit["q1"], bit["q2"] = bit["d0"] & bit["d1"], bit["d2"] & bit["d3"]
        e = 0
        for left, right, mask in terms:
            if bit[left] & (bit[right] if right else 1):
                e ^= mask
        assert mul(power(a, 16), embed(e)) == power(a, 254), a


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


def main() -> None:
    check_layers()
    to_tower, from_tower = tower()
    print("// Generated by circuits/sbox.py; do not edit.\n#pragma once\n#include <cstdint>\n")
    print("namespace tkdc::sbox {\n")
    print("// Linear maps on a byte: the operand of GF2P8AFFINEQB, and the columns.\n")
    emit_matrix("Conjugate", matrix_of(lambda a: power(a, 16)), "a -> a^16")
    emit_matrix("Project", matrix_of(project), "embedded GF(16) element -> nibble")
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
    print("// e = d^-1 in GF(16): LINEAR(x, mask), PRODUCT(x, y, mask); bit k of mask: in e_k.")
    print("#define TKDC_SBOX_INVERT_TERMS(LINEAR, PRODUCT) \\")
    terms = layer3_terms()
    for n, (left, right, mask) in enumerate(terms):
        text = f"LINEAR({left}, {mask})" if right is None else f"PRODUCT({left}, {right}, {mask})"
        print("  " + text + (" \\" if n + 1 < len(terms) else ""))
    print("\n}  // namespace tkdc::sbox")


def _apply(columns: list[int], v: int) -> int:
    r = 0
    for k in range(8):
        if v >> k & 1:
            r ^= columns[k]
    return r


if __name__ == "__main__":
    main()
