# SPDX-License-Identifier: Apache-2.0
"""Changes tickets inside a FILE credential cache (format 4), as an attacker would."""

import struct
from collections.abc import Callable
from pathlib import Path

TICKET_TAG = 0x61  # [APPLICATION 1], RFC 4120, section 5.3


def _u32(data: bytes, at: int) -> int:
    return struct.unpack_from(">I", data, at)[0]


def _skip_data(data: bytes, at: int) -> int:
    return at + 4 + _u32(data, at)


def _skip_principal(data: bytes, at: int) -> int:
    components = _u32(data, at + 4)
    at += 8
    for _ in range(components + 1):  # the realm, then the components
        at = _skip_data(data, at)
    return at


def _skip_typed_list(data: bytes, at: int) -> int:
    count = _u32(data, at)
    at += 4
    for _ in range(count):
        at = _skip_data(data, at + 2)
    return at


def ticket_ranges(data: bytes) -> list[tuple[int, int]]:
    """Where the tickets lie, in the cache's order."""
    if data[:2] != b"\x05\x04":
        raise ValueError("not a credential cache of format 4")
    at = 4 + struct.unpack_from(">H", data, 2)[0]
    at = _skip_principal(data, at)
    ranges = []
    while at < len(data):
        at = _skip_principal(data, _skip_principal(data, at))
        at = _skip_data(data, at + 2)  # session key: enctype, octets
        at += 4 * 4 + 1 + 4  # times, is_skey, flags
        at = _skip_typed_list(data, _skip_typed_list(data, at))
        if data[at + 4] == TICKET_TAG:  # not one of the cache's own settings
            ranges.append((at + 4, at + 4 + _u32(data, at)))
        at = _skip_data(data, _skip_data(data, at))
    return ranges


def ticket_octets(path: Path) -> list[bytes]:
    """The tickets as they stand in the cache."""
    data = path.read_bytes()
    return [data[start:end] for start, end in ticket_ranges(data)]


def change_tickets(path: Path, change: Callable[[bytes], bytes]) -> None:
    data = path.read_bytes()
    for start, end in reversed(ticket_ranges(data)):
        ticket = change(data[start:end])
        data = data[: start - 4] + struct.pack(">I", len(ticket)) + ticket + data[end:]
    path.write_bytes(data)


# -- DER, as far as a ticket needs it ---------------------------------------------------


def _parse(der: bytes, at: int = 0) -> tuple[int, int, int]:
    """Tag, start and end of the content of the element at `at`."""
    tag, first = der[at], der[at + 1]
    if first < 0x80:
        return tag, at + 2, at + 2 + first
    size = first & 0x7F
    length = int.from_bytes(der[at + 2 : at + 2 + size], "big")
    return tag, at + 2 + size, at + 2 + size + length


def _element(tag: int, content: bytes) -> bytes:
    if len(content) < 0x80:
        return bytes([tag, len(content)]) + content
    length = len(content).to_bytes((len(content).bit_length() + 7) // 8, "big")
    return bytes([tag, 0x80 | len(length)]) + length + content


def _rewrite(der: bytes, path: tuple[int, ...], change: Callable[[bytes], bytes]) -> bytes:
    """Follows context tags from a SEQUENCE and changes the primitive content at the end."""
    tag, start, end = _parse(der)
    if not path:
        return _element(tag, change(der[start:end]))
    out, at = b"", start
    while at < end:
        inner_tag, inner_start, inner_end = _parse(der, at)
        piece = der[at:inner_end]
        if inner_tag == 0xA0 | path[0]:
            piece = _element(inner_tag, _rewrite(der[inner_start:inner_end], path[1:], change))
        out, at = out + piece, inner_end
    return _element(tag, out)


ENC_PART, KVNO, CIPHER = 3, 1, 2  # context tags of RFC 4120, sections 5.3 and 5.2.9


def _in_ticket(ticket: bytes, path: tuple[int, ...], change: Callable[[bytes], bytes]) -> bytes:
    tag, start, end = _parse(ticket)  # [APPLICATION 1]
    return _element(tag, _rewrite(ticket[start:end], path, change))


def change_cipher(change: Callable[[bytes], bytes]) -> Callable[[bytes], bytes]:
    return lambda ticket: _in_ticket(ticket, (ENC_PART, CIPHER), change)


def change_kvno(kvno: int) -> Callable[[bytes], bytes]:
    return lambda ticket: _in_ticket(ticket, (ENC_PART, KVNO), lambda _: bytes([kvno]))


def flip(cipher: bytes, at: int) -> bytes:
    at %= len(cipher)
    return cipher[:at] + bytes([cipher[at] ^ 1]) + cipher[at + 1 :]


# Of a ticket, by name: none is to be taken any more.
CHANGES = {
    "first octet": change_cipher(lambda c: flip(c, 0)),
    "octet 12": change_cipher(lambda c: flip(c, 12)),
    "middle": change_cipher(lambda c: flip(c, len(c) // 2)),
    "last octet": change_cipher(lambda c: flip(c, -1)),
    "one octet short": change_cipher(lambda c: c[:-1]),
    "28 octets": change_cipher(lambda c: c[:28]),
    "27 octets": change_cipher(lambda c: c[:27]),
    "one octet": change_cipher(lambda c: c[:1]),
    "empty": change_cipher(lambda c: b""),
    "longer": change_cipher(lambda c: c + bytes(16)),
    "longer than any ticket": change_cipher(lambda c: c + bytes(70_000)),
    "unknown kvno": change_kvno(99),
}
