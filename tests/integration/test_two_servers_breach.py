# SPDX-License-Identifier: Apache-2.0
"""The day after a breach of the KDC's host, with two servers: no window of time can be revoked, so
krbtgt gets a new key and the old ones go, for good, at both servers; then services' keys."""

import signal
import time
from functools import partial

import pytest

from tests.integration.conftest import NAME, SERVICE, STOCK, new_realm, remove
from tests.integration.test_breach import kvnos, rotate
from tests.support.process import wait_until
from tests.support.realm import Realm
from tests.support.rebuild_key import rebuild, stored
from tests.support.two_servers import config, servers_of, tkdc

pytestmark = [pytest.mark.behind, pytest.mark.skipif(STOCK, reason="about tkdc's servers")]
PASSWORD = "a password of before and after"
KRBTGT = f"krbtgt/{NAME}@{NAME}"
WAIT_S = 60.0


@pytest.fixture(scope="module")
def broken():
    with new_realm(kind=partial(Realm, servers=2)) as realm:
        realm.kadmin_local(f'addprinc -pw "{PASSWORD}" flo')
        for service in (SERVICE, "host/other.test"):
            realm.kadmin_local(f"addprinc -randkey {service}")
        realm.kadmin_local(f"ktadd -k {realm.keytab('service')} {SERVICE}")
        yield realm
    remove(realm)


def logged_in(realm: Realm, name: str):
    client = realm.client(name)
    wait_until(lambda: client.kinit("flo", PASSWORD, timeout_s=60).ok, WAIT_S, "a login")
    return client


def versions_at(realm: Realm, party: int) -> int:
    """Keys of krbtgt, of all versions and enctypes."""
    return list(stored(realm, party).values()).count(KRBTGT)


def test_no_time_can_be_revoked_and_nothing_changes(broken):
    user = logged_in(broken, "before")
    before = [one["sessions"] for one in servers_of(broken)]
    for party in range(2):
        for options in (("--sealed-between", "2h", "now"), ("--lift",)):
            done = tkdc(broken, "revoke", "--config", config(broken, party), "--yes", *options)
            assert done.returncode == 1, done.stdout
            assert "two servers" in done.stderr, done.stderr
            assert "`tkdc rotate krbtgt --now --purge`" in done.stderr, done.stderr
    assert user.kvno("host/other.test").ok
    assert [one["sessions"] for one in servers_of(broken)] == before
    assert [one.get("revoked", []) for one in servers_of(broken)] == [[], []]


def test_tickets_of_before_end_with_krbtgts_old_keys(broken):
    """First a new version beside the old one; then the old ones go, at both servers."""
    stolen = logged_in(broken, "stolen")
    carried = logged_in(broken, "carried")
    carried.kvno_opened(broken.keytab("service"), SERVICE)
    assert rotate(broken, "--now").returncode == 0
    assert stolen.kvno("host/other.test").ok, "the control: old tickets serve until --purge"
    old = {key.fields["key"] for key in rebuild(broken, KRBTGT)}
    before = versions_at(broken, 0)
    assert len(old) == before == versions_at(broken, 1)

    thief = logged_in(broken, "thief")
    done = rotate(broken, "--now", "--purge")
    assert done.returncode == 0, done.stdout + done.stderr
    assert len(kvnos(broken)) == 1
    for ticket in (stolen, thief):
        refused = ticket.kvno(f"kadmin/changepw@{NAME}")
        assert not refused.ok, refused.output
        assert not ticket.run("kinit", "-R").ok
    after = logged_in(broken, "after")
    assert after.kvno("host/other.test").ok
    now = {key.fields["key"] for key in rebuild(broken, KRBTGT)}
    assert [versions_at(broken, party) for party in range(2)] == [before // 2] * 2
    assert len(now) == before // 2 and not now & old, "none is kept that could come back"
    assert [one.get("dropped_keys", 0) for one in servers_of(broken)] == [0, 0]


def test_a_services_ticket_lives_until_its_key_is_drawn_anew(broken):
    """What a thief had sealed for a service krbtgt's rotation does not reach."""
    user, keytab = logged_in(broken, "long"), broken.keytab("service")
    user.kvno_opened(keytab, SERVICE)
    assert rotate(broken, "--now", "--purge").returncode == 0
    held = user.run("kvno", "-k", str(keytab), SERVICE)
    assert held.ok, "the control: from the cache, and its keytab opens it"
    broken.kadmin_local(f"ktadd -k {broken.keytab('anew')} {SERVICE}")
    assert not user.run("kvno", "-k", str(broken.keytab("anew")), SERVICE).ok
    logged_in(broken, "new").kvno_opened(broken.keytab("anew"), SERVICE)


@pytest.mark.parametrize("party", [0, 1])
def test_nothing_is_half_done_where_a_server_is_away(broken, party):
    """And a server that was killed before it takes part in it."""
    before, keys = kvnos(broken), versions_at(broken, 0)
    broken.daemons[f"server{party}"].stop()
    away = rotate(broken, "--now", "--purge")
    assert away.returncode == 1 and "tkdc rotate: " in away.stderr, away.stdout
    assert kvnos(broken) == before
    broken.start_server(party)
    stolen = logged_in(broken, f"killed{party}")
    broken.signal(f"server{party}", signal.SIGKILL)
    broken.daemons[f"server{party}"].stop()
    broken.start_server(party)
    began = time.monotonic()
    while (done := rotate(broken, "--now", "--purge")).returncode != 0:
        assert time.monotonic() - began < WAIT_S, done.stderr
    assert not stolen.kvno("host/other.test").ok
    assert [versions_at(broken, each) for each in range(2)] == [keys, keys]
    assert logged_in(broken, f"again{party}").kvno("host/other.test").ok
