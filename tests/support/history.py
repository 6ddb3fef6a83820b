# SPDX-License-Identifier: Apache-2.0
"""What a principal's password history remembers, out of a line of `kdb5_util dump`."""

import struct
from dataclasses import dataclass

KADM_DATA = 3  # KRB5_TL_KADM_DATA
TL_DATA_AT, TL_DATA_FIELDS = 15, 3
HANDLE_BYTES, KEY_ID_BYTES = 124, 16


@dataclass(frozen=True)
class Remembered:
    """A remembered key: its form is stock, handle or none."""

    version: int
    kvno: int
    enctype: int
    octets: bytes
    salt: bytes

    @property
    def form(self) -> str:
        if len(self.octets) != HANDLE_BYTES:
            return "stock"
        return "handle" if any(self.octets[:KEY_ID_BYTES]) else "none"


def history(fields: list[str]) -> list[list[Remembered]]:
    """Of each former password its keys."""
    for number in range(int(fields[3])):
        kind, _, octets = fields[TL_DATA_AT + TL_DATA_FIELDS * number:][:TL_DATA_FIELDS]
        if int(kind) == KADM_DATA:
            return _read(bytes.fromhex(octets))
    return []


def _read(record: bytes) -> list[list[Remembered]]:
    at = 0

    def number() -> int:
        nonlocal at
        at += 4
        return struct.unpack(">I", record[at - 4:at])[0]

    def octets() -> bytes:
        nonlocal at
        size = number()
        found = record[at:at + size]
        at += (size + 3) // 4 * 4
        return found

    number()  # the record's version
    octets()  # the policy's name
    for _ in ("attributes", "next", "kadmin/history's version"):
        number()
    passwords = []
    for _ in range(number()):
        keys = []
        for _ in range(number()):
            version, kvno, enctype, _salt_type, _length, _salt_length = (
                number() for _ in range(6))
            keys.append(Remembered(version, kvno, enctype, octets(), octets()))
        passwords.append(keys)
    assert at == len(record)
    return passwords


def forms(fields: list[str]) -> list[list[str]]:
    return [[key.form for key in password] for password in history(fields)]


def count(fields: list[str], form: str) -> int:
    """Keys of that form."""
    return sum(password.count(form) for password in forms(fields))
