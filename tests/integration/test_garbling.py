# SPDX-License-Identifier: Apache-2.0
"""Servers that compute by garbled circuits (data.garbling): logins and tickets as ever."""

import re
from pathlib import Path

import pytest

from tests.integration.conftest import NAME, SERVICE, STOCK, new_realm, remove
from tests.integration.test_breach import status
from tests.support.process import wait_until

pytestmark = pytest.mark.skipif(STOCK, reason="looks behind the scenes")

PASSWORD = "a password of alice"


def garbling_realm(values):
    realm = new_realm(NAME)
    realm.create()
    for party, value in enumerate(values):
        realm.set_data(party, "garbling", f'"{value}"')
    realm.start()
    realm.kadmin_local(f"addprinc -randkey {SERVICE}")
    realm.kadmin_local(f'addprinc -pw "{PASSWORD}" +requires_preauth alice')
    return realm


def login(realm, name):
    alice = realm.client(name)
    done = alice.kinit("alice", PASSWORD)
    assert done.ok, done.errors
    assert alice.kvno(SERVICE).ok


def table(realm):
    return realm.tool("tkdc", "status", "--socket", str(realm.agent_socket("kdc")))


def counts(realm, name):
    return [one[name] for one in status(realm)]


@pytest.fixture(scope="module")
def garbling():
    realm = garbling_realm(["always"] * 3)
    try:
        yield realm
    finally:
        realm.stop()
        remove(realm)


def ready(realm, kinds):
    def full():
        return all(one["garbled_kinds"] >= kinds and
                   one["garbled_ready"] == 6 * one["garbled_kinds"] for one in status(realm))
    wait_until(full, 60, "instances at all three servers")


def test_logins_and_tickets_by_garbled_circuits(garbling):
    login(garbling, "first")  # by sharing: its kinds are learned
    ready(garbling, 2)
    taken, rounds = counts(garbling, "garbled_jobs"), counts(garbling, "rounds")
    for number in range(3):
        login(garbling, f"later{number}")
        ready(garbling, 2)
    assert all(now > was + 3 for now, was in
               zip(counts(garbling, "garbled_jobs"), taken, strict=True))
    assert counts(garbling, "rounds") != rounds
    assert not garbling.client("bob").kinit("alice", "another password").ok
    assert counts(garbling, "jobs_failed") == [0, 0, 0]
    assert "operations took one" in table(garbling)


def resident_mib(realm, party):
    text = Path(f"/proc/{realm.daemons[f'server{party}'].pid}/status").read_text()
    return int(re.search(r"^VmRSS:\s+(\d+) kB$", text, re.MULTILINE)[1]) / 1024


def test_memory_of_a_full_reserve(garbling):
    """docs/performance.md, "Memory": a server, its instances, layouts of a usual login."""
    login(garbling, "memory")
    ready(garbling, 2)
    server_mib, layouts_mib, most_else_mib = 27, 68, 40
    for party, one in enumerate(status(garbling)):
        instances_mib = one["garbled_bytes"] / 2**20
        most = server_mib + layouts_mib + instances_mib + most_else_mib
        assert resident_mib(garbling, party) < most, f"{instances_mib} MiB are instances"


def test_a_server_that_is_killed_while_instances_are_made(garbling):
    for party in range(3):
        login(garbling, f"before{party}")
        garbling.daemons[f"server{party}"].kill()
        garbling.start_server(party)
        wait_until(lambda: all(one["session_up"] for one in status(garbling)), 60, "a session")
        login(garbling, f"after{party}")
    ready(garbling, 2)
    login(garbling, "at last")
    # Server 2 was killed last. Of each circuit the others had one layout through all sessions since
    # they began.
    for one in status(garbling):
        assert one["garbled_layouts"] == len(one["garbled_circuits"])


def test_one_server_without_it_is_a_session_without_it():
    realm = garbling_realm(["always", "always", "never"])
    try:
        login(realm, "alice")
        login(realm, "again")
        assert counts(realm, "garbled_kinds") == [0, 0, 0]
        assert counts(realm, "garbled_jobs") == [0, 0, 0]
        assert "the session has no garbled circuits" in table(realm)
    finally:
        realm.stop()
        remove(realm)
