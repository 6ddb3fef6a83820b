# SPDX-License-Identifier: Apache-2.0
"""Trust between a realm with tkdc and one without, by a password that both administrators type;
one row of tests for each direction."""

import itertools
from dataclasses import dataclass

import pytest

from tests.integration.conftest import NAME, SERVICE, STOCK, new_realm, remove
from tests.support import ccache
from tests.support.kerberos import Client
from tests.support.realm import Realm

OTHER = "OTHER.REALM"
SECOND = "host/second.test"
SECRET = "a password between two realms"
PASSWORD = "the password of alice"
TRUSTS = (f"krbtgt/{OTHER}@{NAME}", f"krbtgt/{NAME}@{OTHER}")

_numbers = itertools.count(1)


@dataclass(frozen=True)
class Trust:
    """A user of `home` wants a service of `away`."""

    home: Realm
    away: Realm

    def client(self) -> Client:
        """Its configuration knows both realms."""
        number = next(_numbers)
        config = self.home.directory / f"trust{number}.conf"
        text = (self.home.directory / "krb5.conf").read_text()
        away = f"    {self.away.name} = {{\n        kdc = 127.0.0.1:{self.away.ports.kdc}\n    }}\n"
        config.write_text(text.replace("[realms]\n", "[realms]\n" + away))
        env = {**self.home.env(), "KRB5_CONFIG": str(config)}
        return Client(env, self.home.directory / f"trust{number}.ccache")

    def alice(self, *options: str) -> Client:
        alice = self.client()
        done = alice.kinit("alice", PASSWORD, *options)
        assert done.ok, done.errors
        return alice

    @property
    def service(self) -> str:
        return f"{SERVICE}@{self.away.name}"


@pytest.fixture(scope="module")
def other(realm):
    with new_realm(OTHER, stock=True) as running:
        running.kadmin_local(f"addprinc -randkey {SERVICE}")
        running.kadmin_local(f"ktadd -k {running.keytab('service')} {SERVICE}")
        for each in (realm, running):
            each.kadmin_local(f'addprinc -pw "{PASSWORD}" alice')
            each.kadmin_local(f"addprinc -randkey {SECOND}")
            for trust in TRUSTS:
                each.kadmin_local(f'addprinc -pw "{SECRET}" {trust}')
        yield running
    remove(running)
    for name in ("alice", SECOND, *TRUSTS):
        realm.kadmin_local(f"delprinc -force {name}")


@pytest.fixture(params=["out of tkdc", "into tkdc"])
def trust(request, realm, other) -> Trust:
    return Trust(realm, other) if request.param == "out of tkdc" else Trust(other, realm)


def test_service_of_the_other_realm(trust):
    alice = trust.alice("-f", "-r", "2d")
    alice.kvno_opened(trust.away.keytab("service"), trust.service)
    shown = alice.klist("-f").output
    assert f"krbtgt/{trust.away.name}@{trust.home.name}" in shown
    of_service = shown[shown.index(trust.service):]
    assert "Flags: FRAT" in of_service, shown  # forwardable, renewable, transited checked


def test_no_flags_where_none_are_asked(trust):
    """The control of the test above."""
    alice = trust.alice("-F")
    assert alice.kvno(trust.service).ok
    assert "Flags: FRAT" not in alice.klist("-f").output


def test_unknown_service_of_the_other_realm(trust):
    done = trust.alice().kvno(f"host/no-such-host.test@{trust.away.name}")
    assert not done.ok
    assert "not found in Kerberos database" in done.errors


@pytest.mark.parametrize("enctype", ["aes128-cts", "aes256-sha2"])
def test_trust_of_other_enctypes(realm, other, trust, enctype):
    """The key between the realms alone changes; both sides type the password again."""
    name = f"krbtgt/{trust.away.name}@{trust.home.name}"
    try:
        for each in (realm, other):
            each.kadmin_local(f'cpw -e {enctype}:normal -pw "{SECRET}" {name}')
        done = trust.alice().kvno(trust.service)
        assert done.ok, done.errors
    finally:
        for each in (realm, other):
            each.kadmin_local(f'cpw -pw "{SECRET}" {name}')


def test_passwords_that_differ(realm, other, trust):
    """One administrator has typed another password: refused, and good again when both agree."""
    name = f"krbtgt/{trust.away.name}@{trust.home.name}"
    alice = trust.alice()
    assert alice.kvno(trust.service).ok
    for each, password in ((trust.home, SECRET), (trust.away, "another one")):
        each.kadmin_local(f'cpw -pw "{password}" {name}')
    done = trust.alice().kvno(trust.service)
    assert not done.ok
    assert "Decrypt integrity check failed" in done.errors
    for each in (realm, other):
        each.kadmin_local(f'cpw -pw "{SECRET} anew" {name}')
    done = trust.alice().kvno(trust.service)
    assert done.ok, done.errors


def test_rollover_with_the_old_key_kept(realm, other, trust):
    """A ticket for the other realm, got before, stays good there until purgekeys."""
    name = f"krbtgt/{trust.away.name}@{trust.home.name}"
    alice = trust.alice()
    assert alice.kvno(f"krbtgt/{trust.away.name}").ok
    for each in (realm, other):
        each.kadmin_local(f'cpw -keepold -pw "{SECRET} later" {name}')
    done = alice.kvno(trust.service)
    assert done.ok, done.errors
    for each in (realm, other):
        each.kadmin_local(f"purgekeys {name}")
    second = f"{SECOND}@{trust.away.name}"
    assert not alice.kvno(second).ok
    done = trust.alice().kvno(second)
    assert done.ok, done.errors


def test_changed_ticket_between_realms(trust):
    alice = trust.alice()
    assert alice.kvno(f"krbtgt/{trust.away.name}").ok
    ccache.change_tickets(alice.ccache, ccache.change_cipher(lambda c: ccache.flip(c, -1)))
    assert not alice.kvno(trust.service).ok
    assert trust.alice().kvno(trust.service).ok


def test_acting_for_a_user_of_the_other_realm_is_refused_as_stock_refuses_it(trust):
    """S4U2Self: that realm's KDC would have to know our service by its enterprise name, and db2
    knows no such names. With a module that does: test_s4u_cross_realm.py."""
    service = trust.client()
    done = service.kinit_keytab(SERVICE, trust.home.keytab("service"), "-f")
    assert done.ok, done.errors
    done = service.run("kvno", "-U", f"alice@{trust.away.name}", SERVICE)
    assert not done.ok
    assert "not found in Kerberos database" in done.errors
    assert service.kvno(trust.service).ok


@pytest.mark.behind
@pytest.mark.skipif(STOCK, reason="no agent")
def test_tickets_for_another_realm_have_the_standard_form(realm, other):
    """Another KDC opens them: AES-CTS with HMAC-SHA-1, not the own realm's GCM form."""
    alice = Trust(realm, other).alice()
    before = len(realm.operations("kdc"))
    assert alice.kvno(f"krbtgt/{OTHER}").ok
    asked = [o for o in realm.operations("kdc")[before:] if (o["op"], o["usage"]) == ("seal", 2)]
    assert len(asked) == 1 and (realm.servers == 2 or asked[0]["sha1_blocks"] > 0), asked
