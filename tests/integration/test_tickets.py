# SPDX-License-Identifier: Apache-2.0
"""Tickets that were changed, cut, or made elsewhere: refused, with nothing harmed."""

import pytest

from tests.integration.conftest import NAME, SERVICE, new_realm, remove
from tests.support import ccache
from tests.support.ccache import CHANGES, change_cipher, flip


@pytest.fixture
def logged_in(client, shared_user):
    alice = client()
    assert alice.kinit(shared_user.name, shared_user.password).ok
    return alice


@pytest.mark.parametrize("change", CHANGES.values(), ids=CHANGES.keys())
def test_changed_ticket_is_refused(logged_in, change, healthy):
    ccache.change_tickets(logged_in.ccache, change)
    done = logged_in.kvno(SERVICE)
    assert not done.ok, "the KDC took a changed ticket"
    healthy()


def test_unchanged_ticket_survives_rewriting(logged_in):
    """The control of the test above: rewriting alone breaks nothing."""
    before = logged_in.ccache.read_bytes()
    ccache.change_tickets(logged_in.ccache, change_cipher(lambda c: c))
    assert logged_in.ccache.read_bytes() == before
    assert logged_in.kvno(SERVICE).ok


def test_ticket_of_a_foreign_realm_of_the_same_name(realm, client, shared_user, healthy):
    with new_realm(NAME, stock=True) as other:
        other.kadmin_local(f'addprinc -pw "{shared_user.password}" {shared_user.name}')
        stranger = other.client("stranger")
        assert stranger.kinit(shared_user.name, shared_user.password).ok
        foreign = stranger.ccache.read_bytes()
    remove(other)
    alice = client()
    alice.ccache.write_bytes(foreign)
    alice.ccache.chmod(0o600)
    assert not alice.kvno(SERVICE).ok, "the KDC took another realm's ticket"
    healthy()


def test_service_refuses_a_changed_ticket(realm, logged_in):
    assert logged_in.kvno(SERVICE).ok
    ccache.change_tickets(logged_in.ccache, change_cipher(lambda c: flip(c, -1)))
    done = logged_in.run("kvno", "-k", str(realm.keytab("service")), SERVICE)
    assert not done.ok
