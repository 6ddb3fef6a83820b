# SPDX-License-Identifier: Apache-2.0
"""Which protocol computes: a realm by the plaintext one, which only a program of tests has; two
protocols in one session; and what the installed server says of a protocol that it has not."""

import json
import re
import subprocess
from contextlib import contextmanager

import pytest

from tests.integration.conftest import SERVICE, STOCK, new_realm, remove
from tests.integration.test_breach import status
from tests.support.process import wait_until
from tests.support.realm import ROOT, Realm

pytestmark = [pytest.mark.behind, pytest.mark.skipif(STOCK, reason="looks behind the scenes")]

OF_TESTS = "tkdc-server-of-tests"
PASSWORD = "a password of alice"
# A login takes thousands of rounds by replicated sharing, and some where inputs are opened.
FEW_ROUNDS = 100


def protocols_of_tests() -> list[str]:
    """All of the list but the installed server's."""
    text = (ROOT / "tests" / "support" / "protocol_list.cc").read_text()
    listed = re.findall(r'^ +{"([a-z0-9-]+)", ', text, re.MULTILINE)
    assert {"plaintext", "toy"} <= set(listed)
    return [name for name in listed if name != "rep3"]


@contextmanager
def realm_with(protocols: list[str], installed: int | None = None, agent: str = ""):
    """`installed`: the party that runs the installed program, without a list. `agent`: what the
    KDC's agent asks for."""
    realm = new_realm("PROTOCOLS.REALM")
    try:
        realm.create()
        for party in range(3):
            if party == installed:
                continue
            realm.server_programs[party] = OF_TESTS
            realm.set_data(party, "protocols", json.dumps(protocols))
        if agent:
            ask_for(realm, agent)
        realm.start()
        yield realm
    finally:
        realm.stop()
        remove(realm)


def ask_for(realm: Realm, protocol: str) -> None:
    config = realm.installation / "agent-kdc" / "agent.toml"
    lines = [line for line in config.read_text().splitlines() if not line.startswith("protocol =")]
    at = lines.index("[agent]") + 1
    config.write_text("\n".join([*lines[:at], f'protocol = "{protocol}"', *lines[at:], ""]))


def in_use(realm: Realm) -> list[list[str]]:
    return [[one["name"] for one in server["protocols"]] for server in status(realm)]


def log_in(realm: Realm, client: str) -> None:
    alice = realm.client(client)
    done = alice.kinit("alice", PASSWORD)
    assert done.ok, done.errors
    assert alice.kvno(SERVICE).ok
    assert not realm.client("wrong").kinit("alice", "another password").ok


def make_users(realm: Realm) -> None:
    realm.kadmin_local(f"addprinc -randkey {SERVICE}")
    realm.kadmin_local(f'addprinc -pw "{PASSWORD}" alice')


def rounds(realm: Realm, agent: str) -> list[int]:
    """Of each operation of this agent."""
    log = realm.installation / f"agent-{agent}" / "operations.jsonl"
    done = [json.loads(line) for line in log.read_text().splitlines()]
    return [one["rounds"] for one in done if one["status"] == "ok"]


@pytest.mark.parametrize("protocol", protocols_of_tests())
def test_a_realm_by_a_protocol_of_tests(protocol):
    with realm_with([protocol]) as realm:
        make_users(realm)
        log_in(realm, "alice")
        assert in_use(realm) == [[protocol]] * 3
        assert max(rounds(realm, "kdc")) < FEW_ROUNDS


# The KDC's jobs and kadmin's share keys, sessions and lanes, and are computed in different ways.
def test_two_protocols_in_one_session():
    with realm_with(["rep3", "plaintext"], agent="plaintext") as realm:
        make_users(realm)
        log_in(realm, "first")
        assert in_use(realm) == [["rep3", "plaintext"]] * 3
        assert max(rounds(realm, "kdc")) < FEW_ROUNDS < max(rounds(realm, "admin"))
        # And the other way.
        realm.daemons["agent-kdc"].stop()
        ask_for(realm, "rep3")
        realm.start_agent("kdc")
        before = len(rounds(realm, "kdc"))
        wait_until(lambda: realm.client("again").kinit("alice", PASSWORD).ok, 30, "a login")
        assert max(rounds(realm, "kdc")[before:]) > FEW_ROUNDS


def test_a_protocol_that_the_session_has_not_is_refused_by_name():
    with realm_with(["rep3"], installed=1) as realm:
        make_users(realm)
        log_in(realm, "alice")
        assert in_use(realm) == [["rep3"]] * 3
        realm.daemons["agent-kdc"].stop()
        ask_for(realm, "plaintext")
        realm.start_agent("kdc")
        with pytest.raises(subprocess.TimeoutExpired):  # it asks again, as where servers are away
            realm.client("waits").kinit("alice", PASSWORD, timeout_s=3)
        assert "this session has no protocol of the name" in (
            realm.directory / "kdc.trace").read_text()


def symbols(realm: Realm, program: str) -> str:
    return subprocess.run(["nm", "-C", str(realm.bin / program)], text=True, capture_output=True,
                          check=True).stdout


def test_the_installed_server_has_no_protocol_of_tests():
    realm = new_realm("PROTOCOLS.REALM")
    realm.create()
    realm.set_data(0, "protocols", json.dumps(["rep3", "plaintext"]))
    config = realm.server_directory(0) / "tkdc.toml"
    for options in (["--check-config"], []):
        done = subprocess.run([str(realm.bin / "tkdc-server"), "--config", str(config), *options],
                              env=realm.env(), text=True, capture_output=True, timeout=60,
                              check=False)
        assert done.returncode != 0
        assert "this program has no protocol 'plaintext'; it has 'rep3'" in done.stderr
    assert "tkdc::Plaintext::" in symbols(realm, OF_TESTS), "else the next line shows nothing"
    assert "tkdc::Plaintext" not in symbols(realm, "tkdc-server")
    remove(realm)
