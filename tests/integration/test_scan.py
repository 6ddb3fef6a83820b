# SPDX-License-Identifier: Apache-2.0
"""The search for key material finds what is there: only then does finding nothing say much."""

import hashlib
import os
import re

import pytest

from tests.integration.conftest import new_realm, remove
from tests.support import aes, keymaterial
from tests.support.realm import default_bin
from tests.support.scan import Scanner

RFC3962_VECTORS = [  # appendix B: iterations, password, salt, AES-128 key, AES-256 key
    (1, "password", "ATHENA.MIT.EDUraeburn", "42263c6e89f4fc28b8df68ee09799f15",
     "fe697b52bc0d3ce14432ba036a92e65bbb52280990a2fa27883998d72af30161"),
    (1200, "password", "ATHENA.MIT.EDUraeburn", "4c01cd46d632d01e6dbe230a01ed642a",
     "55a6ac740ad17b4846941051e1e8b0a7548d93b0ab30a8bc3ff16280382b8c2a"),
]


@pytest.fixture(scope="module")
def scanner():
    return Scanner(default_bin() / "keyscan")


@pytest.mark.parametrize("iterations,password,salt,short,long", RFC3962_VECTORS)
def test_string_to_key(iterations, password, salt, short, long):
    assert keymaterial.string_to_key(password, salt, 16, iterations).hex() == short
    assert keymaterial.string_to_key(password, salt, 32, iterations).hex() == long


def test_aes_and_sha1_known_answers():
    block = bytes.fromhex("00112233445566778899aabbccddeeff")  # FIPS 197, appendix C
    for size, answer in ((16, "69c4e0d86a7b0430d8cdb78070b4c55a"),
                         (32, "8ea2b7ca516745bfeafc49904b496089")):
        keys = aes.round_keys(bytes(range(size)))
        assert aes.encrypt_block(keys, block).hex() == answer
    padded = b"abc\x80" + bytes(52) + (24).to_bytes(8, "big")
    assert aes.sha1_state(padded) == hashlib.sha1(b"abc").digest()


def test_every_form_is_found_in_a_process_that_holds_it(scanner):
    values = [(f"v{size}", os.urandom(size)) for size in (16, 20, 32)]
    count, missed = scanner.control(values)
    assert count > 300
    assert not missed


def test_files_are_searched_across_pieces(scanner, tmp_path):
    key = os.urandom(32)
    piece = 16 << 20  # keyscan reads files in pieces of this size
    (tmp_path / "big").write_bytes(bytes(piece - 7) + key + bytes(100))
    report = scanner.search([("key", key)], {}, {"files": tmp_path})
    assert [f.form for f in report.findings if f.form == "plain"]


def test_nothing_is_found_where_nothing_is(scanner, tmp_path):
    (tmp_path / "noise").write_bytes(os.urandom(1 << 20))
    values = [(f"k{i}", os.urandom(16)) for i in range(1000)]
    assert not scanner.search(values, {}, {"files": tmp_path}).findings


def test_stock_krb5kdc_holds_its_master_key(scanner):
    """A real krb5kdc's memory, and a key that must be in it."""
    with new_realm("STOCK.TEST", stock=True) as stock:
        shown = stock.admin_tool("klist", "-k", "-K", f"FILE:{stock.directory}/stash").output
        key = bytes.fromhex(re.search(r"\(0x([0-9a-f]+)\)", shown).group(1))
        report = scanner.search([("K/M", key)], {"krb5kdc": stock.daemons["krb5kdc"].pid}, {})
    remove(stock)
    assert report.findings
