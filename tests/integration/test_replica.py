# SPDX-License-Identifier: Apache-2.0
"""A replica KDC: its own folder, database and agent, fed by kprop and kpropd; the same servers.

Its agent has a CURVE key of its own with the role kdc, so it serves logins and makes no keys."""


import pytest

from tests.integration.conftest import NAME, SERVICE, STOCK, new_realm, remove
from tests.support.kerberos import run_program
from tests.support.process import RealmError
from tests.support.replica import HOST, ReplicatedRealm

PASSWORD = "the password of rita"

pytestmark = pytest.mark.behind


@pytest.fixture(scope="module")
def site():
    if STOCK:
        pytest.skip("compares nothing")
    with new_realm(kind=ReplicatedRealm) as running:
        running.kadmin_local(f'addprinc -pw "{PASSWORD}" rita')
        running.add_service(SERVICE, "service")
        running.add_service(f"host/{HOST}", "host")
        running.start_replica()
        running.start_kpropd()
        done = running.propagate()
        assert done.ok and "SUCCEEDED" in done.output, done.output + done.errors
        running.start_replica_kdc()
        yield running
    remove(running)


def test_login_at_the_replica(site, replica):
    done = replica.kinit("rita", PASSWORD, "-r", "1d")
    assert done.ok, done.errors
    replica.kvno_opened(site.keytab("service"), SERVICE)
    done = replica.run("kinit", "-R")
    assert done.ok, done.errors
    wrong = replica.kinit("rita", "not the password")
    assert not wrong.ok and "Password incorrect" in wrong.errors


@pytest.mark.parametrize("way", ["there", "back"])
def test_tickets_of_one_serve_at_the_other(primary, replica, way):
    first, second = (primary, replica) if way == "there" else (replica, primary)
    assert first.kinit("rita", PASSWORD).ok
    done = second.kvno(SERVICE)
    assert done.ok, done.errors


def test_replica_goes_on_alone(site, replica):
    """The primary's host is gone: krb5kdc, kadmind and both of its agents."""
    for name in ("kadmind", "krb5kdc", "agent-admin", "agent-kdc"):
        site.daemons[name].stop()
    try:
        assert replica.kinit("rita", PASSWORD).ok
        assert replica.kvno(SERVICE).ok
    finally:
        for role in ("kdc", "admin"):
            site.start_agent(role)
        site.start_kdc()
        site.start_kadmind()


def test_password_change(site, primary, replica):
    """The old key is gone at the servers at once: a replica's copy of its handle opens nothing.
    A stock replica would take the old password until it is told."""
    site.kadmin_local('addprinc -pw "the first" changes')
    assert site.propagate().ok
    assert replica.kinit("changes", "the first").ok
    site.kadmin_local('cpw -pw "the second" changes')
    for password in ("the first", "the second"):
        assert not replica.kinit("changes", password).ok
    assert primary.kinit("changes", "the second").ok
    assert site.propagate().ok
    assert replica.kinit("changes", "the second").ok
    assert not replica.kinit("changes", "the first").ok


def test_krbtgt_rollover(site, primary, replica):
    """With the old version kept, tickets of both serve at both once it is propagated."""
    assert primary.kinit("rita", PASSWORD).ok
    site.kadmin_local(f"cpw -randkey -keepold krbtgt/{NAME}")
    assert site.propagate().ok
    done = replica.kvno(SERVICE)
    assert done.ok, done.errors
    assert replica.kinit("rita", PASSWORD).ok
    assert primary.kvno(SERVICE).ok


def test_replica_makes_no_keys(site):
    """Its agent's role is kdc: each server refuses it key management."""
    env = site.replica_env()
    for query in ('addprinc -pw "a password" stowaway', "addprinc -randkey host/stowaway.test"):
        done = run_program(["kadmin.local", "-q", query], env)
        assert "through an agent with the role admin" in done.errors
    assert "stowaway" not in run_program(["kadmin.local", "-q", "listprincs"], env).output
    with pytest.raises(RealmError, match="does not exist"):
        site.kadmin_local("getprinc stowaway")


def test_propagation_needs_the_acl(site):
    """The control of the others: kpropd takes nothing from who is not listed."""
    acl = site.replica / "kpropd.acl"
    kept = acl.read_text()
    acl.write_text(f"host/somebody-else@{NAME}\n")
    try:
        assert not site.propagate().ok
    finally:
        acl.write_text(kept)
    assert site.propagate().ok
