# SPDX-License-Identifier: Apache-2.0
"""Handles and tickets of one installation at another: refused, and the error names the cause."""

import shutil

import pytest

from tests.integration.conftest import NAME, SERVICE, new_realm, remove

pytestmark = pytest.mark.behind


@pytest.fixture(scope="module")
def other():
    with new_realm(NAME) as running:
        yield running
    remove(running)


def test_ticket_of_another_installation(other, client, shared_user, healthy):
    other.kadmin_local(f'addprinc -pw "{shared_user.password}" {shared_user.name}')
    stranger = other.client("stranger")
    assert stranger.kinit(shared_user.name, shared_user.password).ok
    alice = client()
    alice.ccache.write_bytes(stranger.ccache.read_bytes())
    alice.ccache.chmod(0o600)
    assert not alice.kvno(SERVICE).ok
    healthy()


def test_database_of_another_installation(realm, other, shared_user, healthy):
    """The dump of one realm, with its master key, loaded beside the other's servers."""
    dump = other.directory / "foreign.dump"
    realm.admin_tool("kdb5_util", "dump", str(dump))
    stash = other.directory / "stash"
    kept = other.directory / "stash.kept"
    before = other.directory / "before.dump"
    other.admin_tool("kdb5_util", "dump", str(before))
    stash.rename(kept)
    shutil.copy(realm.directory / "stash", stash)
    try:
        other.admin_tool("kdb5_util", "-x", "load_anyway", "load", str(dump))
        other.daemons["krb5kdc"].stop()
        other.start_kdc()
        done = other.client("lost").kinit(shared_user.name, shared_user.password, timeout_s=60)
        assert not done.ok, "a key of another installation worked"
        assert other.daemons["krb5kdc"].running()
    finally:
        kept.replace(stash)
        other.admin_tool("kdb5_util", "load", str(before))
    other.daemons["krb5kdc"].stop()
    other.start_kdc()
    healthy()
