# SPDX-License-Identifier: Apache-2.0
"""The engine's library is secure computation and nothing of the key service for Kerberos.

Symbols and strings of the library show what it holds. Compilers cut a string into pieces where that
is faster, so the literals of its sources are looked at too.
"""

import functools
import re
import subprocess

import pytest

from tests.integration.conftest import STOCK
from tests.support.realm import ROOT, default_bin

pytestmark = [pytest.mark.behind, pytest.mark.skipif(STOCK, reason="looks behind the scenes")]
LIBRARY = default_bin() / "libtkdc-engine.so"
ENGINE = ROOT / "mpc-engine"
NOT_ENGINE = ("service", "tools")
THE_KEY_SERVICES = (
    "LaneRunner", "Revocation", "SealCount", "KeyRecord", "JobRequest", "store_key",
    "krbtgt", "kadmin", "kinit", "krb5", "kerberos", "principal", "keytab", "ticket lane",
    "tkdc-server", "agent", "tkdc epochs", "tkdc release", "tkdc status", "operations.md",
    "CHANGELOG", "tkdc.toml", "[[peers]]", "[data]", "certificate_sha256", "certificate_file",
    "audit", "administrator", "approver", "realm", "repair", "keeps-dropped", "KeepsDropped",
    "manifest", "a SEAL")
LITERAL = re.compile(r"'(?:[^'\\\n]|\\.)'|" r'"((?:[^"\\\n]|\\.)*)"')


def literals(text: str) -> str:
    """Adjacent ones are one, as in the language; each of the others has a line."""
    lines = [line for line in text.splitlines()
             if not line.lstrip().startswith(("//", "#include"))]
    text = "\n".join(lines)
    joined, end = "", 0
    for literal in LITERAL.finditer(text):
        if literal[1] is None:  # a letter
            continue
        if text[end:literal.start()].strip():
            joined += "\n"
        joined += literal[1]
        end = literal.end()
    return joined


@functools.cache
def said_by(*command: str) -> list[str]:
    """Without the paths of the checkout, which may be in a folder of any name."""
    done = subprocess.run([*command, str(LIBRARY)], text=True, capture_output=True, timeout=60,
                          check=True)
    return [line for line in done.stdout.splitlines() if str(ROOT) not in line]


def test_it_is_not_stripped_and_has_the_engine():
    assert any("tkdc::Rep3::" in line for line in said_by("nm", "-C")), (
        "what is looked for could not be seen")


@pytest.mark.parametrize("word", THE_KEY_SERVICES)
def test_it_knows_nothing_of_the_key_service(word):
    for command in (("nm", "-C"), ("strings", "-a")):
        found = [line for line in said_by(*command) if word.lower() in line.lower()]
        assert not found, found[:5]


def test_no_source_of_the_engine_says_it():
    said, files = {}, 0
    for path in sorted(ENGINE.rglob("*")):
        if (path.suffix not in (".cc", ".h", ".inl")
                or path.relative_to(ENGINE).parts[0] in NOT_ENGINE):
            continue
        files += 1
        text = literals(path.read_text()).lower()
        words = [word for word in THE_KEY_SERVICES if word.lower() in text]
        if words:
            said[str(path.relative_to(ENGINE))] = words
    assert files > 100, "the sources are not there"
    assert not said


def test_a_literal_is_seen_though_it_is_written_in_pieces():
    text = 'return fail("see docs/oper"\n            "ations.md, \\"Nonce\\" epochs");\n'
    assert "operations.md" in literals(text)
    assert "tkdc.toml" in literals('if (c == \'"\') fail("see tkdc.toml: \\"auto\\"");')
    assert "tkdc.toml" not in literals('// "tkdc.toml"\n#include "tkdc.toml"\nint a;\n')
