# SPDX-License-Identifier: Apache-2.0
"""The engine's library is secure computation and nothing of the key service for Kerberos."""

import subprocess

import pytest

from tests.integration.conftest import STOCK
from tests.support.realm import default_bin

pytestmark = [pytest.mark.behind, pytest.mark.skipif(STOCK, reason="looks behind the scenes")]
LIBRARY = default_bin() / "libtkdc-engine.so"
THE_KEY_SERVICES = ("LaneRunner", "Revocation", "SealCount", "KeyRecord", "JobRequest", "krbtgt",
                    "kadmin", "principal", "kerberos", "tkdc epochs", "operations.md",
                    "tkdc-server", "audit", "administrator", "tkdc.toml", "store_key")


def said_by(*command: str) -> str:
    return subprocess.run([*command, str(LIBRARY)], text=True, capture_output=True, timeout=60,
                          check=True).stdout


def test_it_is_not_stripped_and_has_the_engine():
    assert "tkdc::Rep3::" in said_by("nm", "-C"), "what is looked for could not be seen"


@pytest.mark.parametrize("word", THE_KEY_SERVICES)
def test_it_knows_nothing_of_the_key_service(word):
    for command in (("nm", "-C"), ("strings", "-a")):
        found = [line for line in said_by(*command).splitlines() if word.lower() in line.lower()]
        assert not found, found[:5]
