# SPDX-License-Identifier: Apache-2.0
"""What an administrator does: kadmin.local, kadmind, kpasswd, kdb5_util."""

import re

import pytest

from tests.integration.conftest import NAME, SERVICE, STOCK
from tests.support.process import RealmError


def keys_of(realm, principal: str) -> list[tuple[int, str]]:
    shown = realm.kadmin_local(f"getprinc {principal}")
    return [(int(kvno), enctype)
            for kvno, enctype in re.findall(r"^Key: vno (\d+), (\S+?)(?::\S+)?$", shown, re.M)]


def test_getprinc_shows_both_keys(realm, shared_user):
    assert keys_of(realm, shared_user.name) == [
        (1, "aes256-cts-hmac-sha1-96"), (1, "aes128-cts-hmac-sha1-96")]


def test_cpw_replaces_the_password(realm, client, user):
    realm.kadmin_local(f'cpw -pw "another password" {user.name}')
    assert client().kinit(user.name, "another password").ok
    assert not client().kinit(user.name, user.password).ok


def test_cpw_keepold_and_purgekeys(realm, client):
    realm.kadmin_local("addprinc -randkey host/purge.test")
    keytab = realm.keytab("purge")
    realm.kadmin_local(f"ktadd -k {keytab} host/purge.test")
    realm.kadmin_local("cpw -randkey -keepold host/purge.test")
    assert {kvno for kvno, _ in keys_of(realm, "host/purge.test")} == {2, 3}
    realm.kadmin_local("purgekeys host/purge.test")
    assert {kvno for kvno, _ in keys_of(realm, "host/purge.test")} == {3}
    assert not client().kinit_keytab("host/purge.test", keytab).ok


def test_randkey_replaces_a_password(realm, client, user):
    realm.kadmin_local(f"cpw -randkey {user.name}")
    assert not client().kinit(user.name, user.password).ok


def test_delprinc(realm, client, user):
    realm.kadmin_local(f"delprinc -force {user.name}")
    assert "not found" in client().kinit(user.name, user.password).errors


def test_unknown_principal(realm):
    with pytest.raises(RealmError, match="does not exist"):
        realm.kadmin_local("getprinc nobody-of-this-name")


def test_ktadd_twice_gives_new_keys(realm, client):
    realm.kadmin_local("addprinc -randkey host/twice.test")
    first, second = realm.keytab("first"), realm.keytab("second")
    realm.kadmin_local(f"ktadd -k {first} host/twice.test")
    realm.kadmin_local(f"ktadd -k {second} host/twice.test")
    assert not client().kinit_keytab("host/twice.test", first).ok
    assert client().kinit_keytab("host/twice.test", second).ok


@pytest.mark.behind
def test_password_keys_cannot_be_extracted(realm, user):
    """ktadd -norandkey would need the key, which no machine holds."""
    keytab = realm.keytab("stolen")
    done = realm.try_admin_tool("kadmin.local", "-q",
                                f"ktadd -norandkey -k {keytab} {user.name}")
    if keytab.exists():
        shown = realm.admin_tool("klist", "-k", "-K", f"FILE:{keytab}").output
        pytest.fail(f"a key of {user.name} came out: {shown}\n{done.errors}")



def test_kpasswd(client, user):
    done = client().kpasswd(user.name, user.password, "a better password")
    assert done.ok, done.output + done.errors
    assert client().kinit(user.name, "a better password").ok
    assert not client().kinit(user.name, user.password).ok


def test_kpasswd_with_a_wrong_password(client, user):
    assert not client().kpasswd(user.name, "wrong", "a better password").ok
    assert client().kinit(user.name, user.password).ok


def test_remote_kadmin(realm, client):
    before = len(realm.operations("admin"))
    realm.kadmin_local('addprinc -pw "the admin password" admin/admin')
    kadmin = ["kadmin", "-p", "admin/admin", "-w", "the admin password", "-q"]
    made = client().run(*kadmin, "addprinc -randkey host/remote.test")
    assert made.ok and "created" in made.output, made.errors
    keytab = realm.keytab("remote")
    taken = client().run(*kadmin, f"ktadd -k {keytab} host/remote.test")
    assert taken.ok, taken.errors
    assert client().kinit_keytab("host/remote.test", keytab).ok
    if not STOCK:
        renamed = client().run(*kadmin, "renprinc -force host/remote.test host/renamed.test")
        # Over the network the code alone arrives, with the stock library's text.
        assert "Principal keys are locked down" in renamed.output + renamed.errors, renamed.errors
        assert client().kinit_keytab("host/remote.test", keytab).ok, "nothing was changed"
    gone = client().run(*kadmin, "delprinc -force host/remote.test")
    assert gone.ok, gone.errors
    # kadmind accepts these tickets, and would verify their PACs, which its role may not.
    asked = realm.operations("admin")[before:]
    assert not [o for o in asked if o["status"] == "denied"]


@pytest.mark.behind
def test_a_history_without_end_is_refused_by_name(realm):
    """A principal's entry would not hold it."""
    realm.kadmin_local("addpol -history 100 long")
    with pytest.raises(RealmError, match="password history"):
        realm.kadmin_local("addpol -history 101 longer")


def test_lockout_counts_each_wrong_password(realm, client):
    realm.kadmin_local("addpol -maxfailure 3 -failurecountinterval 1h strict")
    realm.kadmin_local('addprinc -policy strict -pw "right password" guessed')
    for _ in range(3):
        assert not client().kinit("guessed", "wrong password").ok
    done = client().kinit("guessed", "right password")
    assert not done.ok
    assert "revoked" in done.errors


def test_krbtgt_rollover(realm, client, shared_user):
    """Old tickets stay good while the old version is kept; new ones use the new version."""
    alice = client()
    assert alice.kinit(shared_user.name, shared_user.password).ok
    realm.kadmin_local(f"cpw -randkey -keepold krbtgt/{NAME}")
    done = alice.kvno(SERVICE)
    assert done.ok, done.errors
    fresh = client()
    assert fresh.kinit(shared_user.name, shared_user.password).ok
    assert fresh.kvno(SERVICE).ok


def test_dump_names_no_key(realm, shared_user):
    dump = realm.directory / "dump"
    realm.admin_tool("kdb5_util", "dump", str(dump))
    assert f"{shared_user.name}@{NAME}" in dump.read_text()
