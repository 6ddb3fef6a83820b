# SPDX-License-Identifier: Apache-2.0
"""FAST with stock clients: armor from a machine's ticket, encrypted challenge, the strengthened
reply key. What a client did is read from its trace."""

from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.support.kerberos import Client

CHALLENGE = "encrypted_challenge"


@dataclass(frozen=True)
class Armored:
    client: Client
    trace: Path

    def kinit(self, name: str, password: str, armor: Path, *options: str):
        done = self.client.kinit(name, password, "-T", f"FILE:{armor}", *options)
        return done, self.trace.read_text()


@pytest.fixture(scope="module")
def machine(realm):
    """A host that logged in with its keytab, as sssd's would."""
    realm.kadmin_local("addprinc -randkey host/armor.test")
    keytab = realm.keytab("armor")
    realm.kadmin_local(f"ktadd -k {keytab} host/armor.test")
    host = realm.client("armor")
    assert host.kinit_keytab("host/armor.test", keytab).ok
    return host.ccache


@pytest.fixture
def armored(client, tmp_path):
    alice = client()
    trace = tmp_path / "trace"
    alice.env["KRB5_TRACE"] = str(trace)
    return Armored(alice, trace)


def test_encrypted_challenge(armored, machine, shared_user):
    done, trace = armored.kinit(shared_user.name, shared_user.password, machine)
    assert done.ok, done.errors + trace
    assert "FAST armor key" in trace
    assert "Preauth module encrypted_challenge (138) (real) returned: 0/Success" in trace
    assert "FAST reply key" in trace
    done = armored.client.kvno("host/service.test")
    assert done.ok, done.errors


def test_wrong_password_in_fast(armored, machine, shared_user):
    done, trace = armored.kinit(shared_user.name, "not the password", machine)
    assert not done.ok
    assert "Password incorrect" in done.errors or "Preauthentication failed" in done.errors
    assert "FAST armor key" in trace


def test_wrong_passwords_in_fast_lock(realm, armored, machine):
    realm.kadmin_local("addpol -maxfailure 3 -failurecountinterval 1h strict-fast")
    realm.kadmin_local('addprinc -policy strict-fast -pw "right password" guessed-fast')
    for _ in range(3):
        assert not armored.kinit("guessed-fast", "wrong password", machine)[0].ok
    done, _ = armored.kinit("guessed-fast", "right password", machine)
    assert not done.ok
    assert "revoked" in done.errors


@pytest.mark.parametrize("enctype", ["aes128-cts", "aes128-sha2", "aes256-sha2"])
def test_users_of_other_enctypes(realm, armored, machine, enctype):
    name = f"fast-{enctype}"
    realm.kadmin_local(f'addprinc -e {enctype}:normal -pw "a password" {name}')
    done, trace = armored.kinit(name, "a password", machine)
    assert done.ok, done.errors + trace
    assert CHALLENGE in trace


def test_without_preauthentication(realm, armored, machine):
    """Only the reply key is strengthened."""
    realm.kadmin_local('addprinc -requires_preauth -pw "a password" fast-open')
    done, trace = armored.kinit("fast-open", "a password", machine)
    assert done.ok, done.errors + trace
    assert "FAST reply key" in trace


def test_keytab_login_in_fast(realm, client, machine):
    keytab = realm.keytab("fast-host")
    realm.kadmin_local("addprinc -randkey host/fast.test")
    realm.kadmin_local(f"ktadd -k {keytab} host/fast.test")
    done = client().kinit_keytab("host/fast.test", keytab, "-T", f"FILE:{machine}")
    assert done.ok, done.errors


def test_fast_is_announced_to_kpasswd(armored, user):
    """A ticket says that FAST is spoken here, so kpasswd takes it by itself."""
    assert armored.client.kinit(user.name, user.password).ok
    done = armored.client.kpasswd(user.name, user.password, "a better password")
    assert done.ok, done.output + done.errors
    assert "FAST armor key" in armored.trace.read_text()
    assert armored.client.kinit(user.name, "a better password").ok


def test_without_armor_nothing_changes(armored, shared_user):
    assert armored.client.kinit(shared_user.name, shared_user.password).ok
    trace = armored.trace.read_text()
    assert "encrypted_timestamp" in trace and "FAST armor key" not in trace


def test_changed_armor_is_refused(armored, machine, shared_user, tmp_path):
    """The armor's ticket is changed by one bit."""
    octets = bytearray(machine.read_bytes())
    ticket = octets.rfind(b"\x61\x82")  # the last ticket's tag and length
    assert ticket > 0
    octets[ticket + 200] ^= 1
    changed = tmp_path / "changed"
    changed.write_bytes(octets)
    changed.chmod(0o600)
    done, _ = armored.kinit(shared_user.name, shared_user.password, changed)
    assert not done.ok
    assert armored.kinit(shared_user.name, shared_user.password, machine)[0].ok


@pytest.mark.behind
def test_the_kdc_asks_for_derived_operations_only(realm, armored, machine, shared_user):
    """No plain operation with the user's key in a login with encrypted challenge."""
    before = len(realm.operations("kdc"))
    done, trace = armored.kinit(shared_user.name, shared_user.password, machine)
    assert done.ok, done.errors + trace
    asked = [(o["op"], o["usage"]) for o in realm.operations("kdc")[before:]]
    users = [one for one in asked if one[1] in (1, 3, 54, 55, 56)]
    assert sorted(set(users)) == [("mac-derived", 56), ("open-derived", 54), ("seal-derived", 3),
                                  ("seal-derived", 55)], asked
