# SPDX-License-Identifier: Apache-2.0
"""Password history: the servers compare a new key with those that a principal has and had.

The same steps in a realm with tkdc and in one without are to end the same.
"""

import itertools
import json

import pytest

from tests.integration.conftest import NAME
from tests.support.process import RealmError
from tests.support.rebuild_key import rebuild

REUSE = "Cannot reuse password"
USED = "New password was used previously"
ENCTYPES = 2  # supported_enctypes of the tests' realms

_numbers = itertools.count(1)


@pytest.fixture
def remembering(either):
    """The realm, and a user whose policy remembers three passwords, with the present one."""
    name = f"remembered{next(_numbers)}"
    either.kadmin_local(f"addpol -history 3 {name}")
    either.kadmin_local(f'addprinc -policy {name} -pw "password a" {name}')
    return either, name


def change(realm, name: str, password: str, *options: str) -> None:
    realm.kadmin_local(f'cpw {" ".join(options)} -pw "{password}" {name}')


def test_the_last_three_are_refused(remembering):
    realm, user = remembering
    with pytest.raises(RealmError, match=REUSE):
        change(realm, user, "password a")
    change(realm, user, "password b")
    change(realm, user, "password c", "-keepold")
    for password in ("password a", "password b", "password c"):
        with pytest.raises(RealmError, match=REUSE):
            change(realm, user, password)
    change(realm, user, "password d")
    with pytest.raises(RealmError, match=REUSE):
        change(realm, user, "password b")
    change(realm, user, "password a")  # left the history
    client = realm.client(user)
    assert client.kinit(user, "password a").ok
    assert not client.kinit(user, "password d").ok


def test_kpasswd_and_kadmind_refuse_them_too(remembering):
    realm, user = remembering
    client = realm.client(user)
    same = client.kpasswd(user, "password a", "password a")
    assert not same.ok and USED in same.output
    assert client.kpasswd(user, "password a", "password b").ok
    again = client.kpasswd(user, "password b", "password a")
    assert not again.ok and USED in again.output
    assert client.kinit(user, "password b").ok


def test_without_a_policy_nothing_is_remembered(either):
    user = f"forgotten{next(_numbers)}"
    either.kadmin_local(f'addprinc -pw "the same" {user}')
    change(either, user, "the same")
    assert either.client(user).kinit(user, "the same").ok


def test_a_history_survives_dump_and_load(remembering):
    realm, user = remembering
    change(realm, user, "password b")
    dump = realm.directory / f"{user}.dump"
    realm.admin_tool("kdb5_util", "dump", str(dump))
    realm.admin_tool("kdb5_util", "load", str(dump))
    with pytest.raises(RealmError, match=REUSE):
        change(realm, user, "password a")
    change(realm, user, "password c")


@pytest.mark.behind
def test_a_remembered_key_that_the_servers_do_not_hold(realm):
    """An old dump names a key that has left the history since, and was destroyed."""
    user = f"remembered{next(_numbers)}"
    realm.kadmin_local(f"addpol -history 2 {user}")
    realm.kadmin_local(f'addprinc -policy {user} -pw "password a" {user}')
    change(realm, user, "password b")
    dump = realm.directory / f"{user}.dump"
    realm.admin_tool("kdb5_util", "dump", str(dump))
    change(realm, user, "password c")
    assert 1 not in {key.kvno for key in rebuild(realm, f"{user}@{NAME}")}
    realm.admin_tool("kdb5_util", "load", str(dump))
    with pytest.raises(RealmError, match=REUSE):
        change(realm, user, "password b")
    change(realm, user, "password d")
    change(realm, user, "password e")
    assert realm.client(user).kinit(user, "password e").ok


@pytest.mark.behind
def test_servers_keep_what_is_remembered_and_no_more(realm):
    """A key that is in the history stays; one that leaves it, and all of a deleted user's, go."""
    def kept() -> list[int]:
        return sorted(key.kvno for key in rebuild(realm, f"{user}@{NAME}"))

    user = f"remembered{next(_numbers)}"
    realm.kadmin_local(f"addpol -history 3 {user}")
    realm.kadmin_local(f'addprinc -policy {user} -pw "password 1" {user}')
    for kvno in range(2, 6):
        change(realm, user, f"password {kvno}")
        first = max(1, kvno - 2)
        assert kept() == sorted(list(range(first, kvno + 1)) * ENCTYPES)
    with pytest.raises(RealmError, match=REUSE):
        change(realm, user, "password 4")
    assert kept() == sorted([3, 4, 5] * ENCTYPES)
    realm.kadmin_local(f"modpol -history 1 {user}")
    change(realm, user, "password 6")
    realm.kadmin_local(f"cpw -randkey {user}")
    realm.kadmin_local(f"delprinc -force {user}")
    assert kept() == []


@pytest.mark.behind
def test_comparisons_are_in_every_audit_log(realm):
    """With what they found; and the keys that a refused change has made are destroyed at once."""
    user = f"remembered{next(_numbers)}"
    realm.kadmin_local(f"addpol -history 2 {user}")
    realm.kadmin_local(f'addprinc -policy {user} -pw "password a" {user}')
    before = [len(audited(realm, party)) for party in range(realm.servers)]
    with pytest.raises(RealmError, match=REUSE):
        change(realm, user, "password a")
    change(realm, user, "password b")
    compared, new = "equal: not equal", ["stage"] * ENCTYPES
    for party in range(realm.servers):
        assert audited(realm, party)[before[party]:] == [
            *new, "equal: equal", *["destroy"] * ENCTYPES,
            *new, *[compared] * ENCTYPES, *["bind"] * ENCTYPES], party


def audited(realm, party: int) -> list[str]:
    """What was done with keys, and what was noted of it."""
    log = (realm.server_directory(party) / "audit.jsonl").read_text()
    events = [json.loads(line)["event"] for line in log.splitlines()]
    return [event["operation"] + (f": {event['note']}" if "note" in event else "")
            for event in events
            if event.get("operation") in ("stage", "bind", "destroy", "equal")]
