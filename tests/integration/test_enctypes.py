# SPDX-License-Identifier: Apache-2.0
"""Keys of RFC 8009 beside those of RFC 3962, a realm that has no others, and legacy enctypes."""

import re

import pytest

from tests.integration.conftest import NAME, new_realm, remove
from tests.support.realm import Realm, RealmError

SHA2 = {"aes128-cts-hmac-sha256-128": "aes128-sha2", "aes256-cts-hmac-sha384-192": "aes256-sha2"}
LEGACY = ("arcfour-hmac", "des3-cbc-sha1", "camellia256-cts-cmac", "camellia128-cts-cmac")


@pytest.mark.parametrize("enctype", SHA2)
def test_user(realm, client, enctype):
    name, short = f"sha2-{enctype[:6]}", SHA2[enctype]
    realm.kadmin_local(f'addprinc -e {short}:normal -pw "a password" {name}')
    assert f"vno 1, {enctype}" in realm.kadmin_local(f"getprinc {name}")
    alice = client()
    done = alice.kinit(name, "a password")
    assert done.ok, done.errors
    wrong = client().kinit(name, "not the password")
    assert not wrong.ok and "Password incorrect" in wrong.errors
    keytab = realm.keytab(name)
    realm.kadmin_local(f"ktadd -k {keytab} -e {short}:normal {name}")
    assert client().kinit_keytab(name, keytab).ok
    assert not client().kinit(name, "a password").ok, "ktadd draws new keys"


@pytest.mark.parametrize("enctype", SHA2)
def test_service(realm, client, shared_user, enctype):
    """Its ticket has the enctype, and the keytab that ktadd wrote opens it."""
    service, short = f"host/{enctype[:6]}.test", SHA2[enctype]
    realm.kadmin_local(f"addprinc -randkey -e {short}:normal {service}")
    keytab = realm.keytab(f"service-{short}")
    realm.kadmin_local(f"ktadd -k {keytab} -e {short}:normal {service}")
    alice = client()
    assert alice.kinit(shared_user.name, shared_user.password).ok
    done = alice.run("kvno", "-k", str(keytab), service)
    assert done.ok, done.errors
    shown = alice.klist("-e").output
    assert re.search(rf"{service}@{NAME}\s.*Etype \(skey, tkt\): \S+, {enctype}", shown), shown
    assert client().kinit_keytab(service, keytab).ok


def test_kpasswd_from_a_sha2_key(realm, client):
    realm.kadmin_local('addprinc -e aes256-sha2:normal -pw "the first one" changes')
    done = client().kpasswd("changes", "the first one", "the second one")
    assert done.ok, done.output + done.errors
    assert client().kinit("changes", "the second one").ok


class Sha2Realm(Realm):
    """Every key of RFC 8009: krbtgt's, kadmin's, users' and services'."""

    def write_kerberos_configuration(self) -> None:
        super().write_kerberos_configuration()
        path = self.directory / "kdc.conf"
        text = path.read_text()
        changed = re.sub(r"supported_enctypes = .*",
                         "supported_enctypes = aes256-sha2:normal aes128-sha2:normal", text)
        assert changed != text
        path.write_text(changed)


@pytest.fixture(scope="module")
def sha2_realm():
    with new_realm(kind=Sha2Realm) as running:
        running.kadmin_local('addprinc -pw "a password" alice')
        running.kadmin_local('addprinc -pw "the admin password" admin/admin')
        running.kadmin_local("addprinc -randkey host/service.test")
        yield running
    remove(running)


def test_realm_without_sha1(sha2_realm):
    """krbtgt has its own form in the enctype's lengths; PAC signatures too."""
    realm = sha2_realm
    for name in (f"krbtgt/{NAME}", "kadmin/changepw", "alice"):
        shown = realm.kadmin_local(f"getprinc {name}")
        assert re.findall(r"vno \d+, (\S+)", shown) == list(reversed(list(SHA2))), shown
    alice = realm.client("alice")
    done = alice.kinit("alice", "a password", "-r", "1d")
    assert done.ok, done.errors
    done = alice.kvno("host/service.test")
    assert done.ok, done.errors
    assert re.search(rf"krbtgt/{NAME}@{NAME}\s.*Etype \(skey, tkt\): \S+, "
                     r"aes256-cts-hmac-sha384-192", alice.klist("-e").output)
    renewed = alice.run("kinit", "-R")
    assert renewed.ok, renewed.errors
    wrong = realm.client("wrong").kinit("alice", "not the password")
    assert not wrong.ok and "Password incorrect" in wrong.errors


def test_kadmind_with_sha2_keys(sha2_realm):
    realm = sha2_realm
    admin = realm.client("admin")
    made = admin.run("kadmin", "-p", "admin/admin", "-w", "the admin password", "-q",
                     "addprinc -randkey host/remote.test")
    assert made.ok and "created" in made.output, made.errors
    keytab = realm.keytab("remote")
    taken = admin.run("kadmin", "-p", "admin/admin", "-w", "the admin password", "-q",
                      f"ktadd -k {keytab} host/remote.test")
    assert taken.ok, taken.errors
    assert admin.kinit_keytab("host/remote.test", keytab).ok
    realm.kadmin_local('addprinc -pw "the first one" changes')
    done = realm.client("changes").kpasswd("changes", "the first one", "the second one")
    assert done.ok, done.output + done.errors
    assert realm.client("changes").kinit("changes", "the second one").ok


def test_krbtgt_rollover_to_sha2(realm, client, shared_user):
    """A ticket of enctype 18 stays good; new ones have the new key's enctype."""
    old = client()
    assert old.kinit(shared_user.name, shared_user.password).ok
    realm.kadmin_local(f"cpw -randkey -keepold -e aes256-sha2:normal krbtgt/{NAME}")
    try:
        assert old.kvno("host/service.test").ok
        fresh = client()
        assert fresh.kinit(shared_user.name, shared_user.password).ok
        assert "aes256-cts-hmac-sha384-192" in fresh.klist("-e").output
        assert fresh.kvno("host/service.test").ok
    finally:
        realm.kadmin_local(f"cpw -randkey -keepold krbtgt/{NAME}")
    assert fresh.kvno("host/service.test").ok


@pytest.mark.behind
@pytest.mark.parametrize("enctype", LEGACY)
def test_legacy_enctypes_are_refused_with_the_way_out(realm, client, enctype):
    name = f"legacy-{enctype}"
    with pytest.raises(RealmError, match=rf"{enctype}.*To migrate.*supported_enctypes"):
        realm.kadmin_local(f"addprinc -e {enctype}:normal -pw secret {name}")
    with pytest.raises(RealmError, match="To migrate"):
        realm.kadmin_local(f"addprinc -randkey -e {enctype}:normal {name}")
    assert f"{name}@" not in realm.kadmin_local("listprincs")
    # Beside a key that is served, too: no half of an entry is made.
    with pytest.raises(RealmError, match="To migrate"):
        realm.kadmin_local(f"addprinc -e aes256-cts:normal,{enctype}:normal -pw secret {name}")
    assert f"{name}@" not in realm.kadmin_local("listprincs")
    # And a principal that has keys keeps them.
    realm.kadmin_local(f'addprinc -pw "a password" {name}-keeps')
    with pytest.raises(RealmError, match="To migrate"):
        realm.kadmin_local(f"cpw -pw other -e {enctype}:normal {name}-keeps")
    assert client().kinit(f"{name}-keeps", "a password").ok
