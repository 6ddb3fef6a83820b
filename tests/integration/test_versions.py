# SPDX-License-Identifier: Apache-2.0
"""Two releases in one installation: three administrators upgrade their servers one after the other,
then the KDC's host, while users log in; what an older release has written is served; and the way
back (docs/adr/0023-versions-live-together.md, CHANGELOG.md)."""

import subprocess
from pathlib import Path

import pytest

from tests.integration.conftest import SERVICE, STOCK, new_realm, remove
from tests.integration.test_breach import status
from tests.integration.test_broken_checks import PASSWORD, in_session, load
from tests.support import previous
from tests.support.process import wait_until
from tests.support.realm import Realm, default_bin

pytestmark = [pytest.mark.behind, pytest.mark.skipif(STOCK, reason="looks behind the scenes")]
SESSION_S = 60.0
KDC = ("krb5kdc", "kadmind", "agent-kdc", "agent-admin")


def programs_of(release) -> Path:
    try:
        return previous.binaries(release)
    except previous.NoHistoryError as missing:
        pytest.skip(str(missing))


def version_of(bin_folder) -> str:
    return subprocess.run([str(bin_folder / "tkdc-server"), "--version"], text=True,
                          capture_output=True, check=True).stdout.strip()


def change_server(realm: Realm, party: int, programs) -> None:
    realm.daemons[f"server{party}"].stop()
    realm.bin = programs
    realm.start_server(party)
    wait_until(lambda: in_session(realm), SESSION_S, "a session")


def change_kdc(realm: Realm, programs) -> None:
    """Agents, krb5kdc and kadmind, with module and preload library."""
    for name in KDC:
        realm.daemons[name].stop()
    realm.bin = programs
    realm.write_kerberos_configuration()
    for role in ("kdc", "admin"):
        realm.start_agent(role)
    realm.start_kdc()
    realm.start_kadmind()


def serves(realm: Realm, user: str) -> None:
    """A login, a ticket, a new key, a new password, a wrong one refused."""
    client = realm.client(user)
    realm.kadmin_local(f'addprinc -pw "{PASSWORD}" {user}')
    assert client.kinit(user, PASSWORD).ok
    assert client.kvno(SERVICE).ok
    realm.kadmin_local(f'cpw -pw "another {PASSWORD}" {user}')
    assert client.kinit(user, f"another {PASSWORD}").ok
    assert not client.kinit(user, PASSWORD).ok
    assert client.kinit("lea", PASSWORD).ok, "made by the release before"


def purge_dropped(realm: Realm) -> None:
    """A store with dropped keys is none of a release before them, which would use them."""
    env = {key: value for key, value in realm.kdc_env().items() if key != "LD_PRELOAD"}
    done = subprocess.run([str(default_bin() / "tkdc"), "reconcile", "purge", "--all", "--yes"],
                          env=env, text=True, capture_output=True, timeout=60, check=False)
    assert done.returncode == 0 and "never come back" in done.stdout, done.stderr


def test_servers_are_upgraded_one_at_a_time_and_back():
    before = programs_of(previous.releases()[0])
    now = default_bin().resolve()
    assert version_of(before) != version_of(now)
    realm = new_realm("VERSIONS.REALM")
    realm.bin = before
    with realm:
        realm.kadmin_local(f'addprinc -pw "{PASSWORD}" lea')
        realm.kadmin_local(f"addprinc -randkey {SERVICE}")
        serves(realm, "user0")
        ticket = realm.client("holder")
        assert ticket.kinit("lea", PASSWORD).ok
        with load(realm, 2) as meanwhile:
            for party in range(3):
                change_server(realm, party, now)
                logins = meanwhile.ok
                wait_until(lambda n=logins: meanwhile.ok > n + 1, SESSION_S, "logins meanwhile")
                assert realm.client("mixed").kinit("lea", PASSWORD).ok
                # Of two users each may have tried in vain while one server was away.
                assert len(meanwhile.errors) <= 2 * (party + 1), meanwhile.errors
        realm.bin = before  # the KDC's host still has it
        realm.kadmin_local(f'addprinc -pw "{PASSWORD}" made-by-both')
        change_kdc(realm, now)
        serves(realm, "user1")
        assert ticket.kvno(SERVICE).ok, "a ticket of before"
        assert not any(server.get("latched") for server in status(realm))

        # And back, on what the new programs have written.
        purge_dropped(realm)
        for party in range(3):
            change_server(realm, party, before)
        change_kdc(realm, before)
        serves(realm, "user2")
        assert realm.client("again").kinit("made-by-both", PASSWORD).ok
    remove(realm)


def change_all(realm: Realm, programs) -> None:
    for party in range(3):
        realm.daemons[f"server{party}"].stop()
    realm.bin = programs
    for party in range(3):
        realm.start_server(party, wait=False)
    change_kdc(realm, programs)
    wait_until(lambda: in_session(realm), SESSION_S, "a session")


# Servers of 0.1.0 and of 0.2.0 refuse each other, by name, and lose nothing by it.
def test_what_the_oldest_release_has_written_is_served_and_served_again_by_it():
    oldest, now = programs_of(previous.releases()[-1]), default_bin().resolve()
    realm = new_realm("STATE.REALM")
    realm.bin = oldest
    with realm:
        realm.kadmin_local(f'addprinc -pw "{PASSWORD}" lea')
        realm.kadmin_local(f"addprinc -randkey {SERVICE}")
        ticket = realm.client("holder")
        assert ticket.kinit("lea", PASSWORD).ok

        realm.daemons["server1"].stop()
        realm.bin = now
        realm.start_server(1, wait=False)
        log = realm.logs / "server1.log"
        wait_until(lambda: "has protocol version 8, this server 9; upgrade all three" in
                   log.read_text(), SESSION_S, "why there is no session")

        change_all(realm, now)
        serves(realm, "user0")
        assert ticket.kvno(SERVICE).ok, "a ticket of before"
        purge_dropped(realm)
        change_all(realm, oldest)
        serves(realm, "user1")
        assert realm.client("again").kinit("user0", f"another {PASSWORD}").ok, "made by these"
    remove(realm)
