# SPDX-License-Identifier: Apache-2.0
"""Services that act for users across two realms, one with tkdc and one without: S4U2Self for a
user of the other realm, and resource-based delegation (S4U2Proxy) to a service there. Each row of
tests runs both ways round; the modules say who may delegate (tests/support/delegating_module)."""

import re
import shutil
import tempfile
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.integration.conftest import NAME, STOCK, free_base_port
from tests.support.delegation import DelegatingRealm
from tests.support.kerberos import Client

OTHER = "OTHER.REALM"
SECRET = "a password between two realms"
PASSWORD = "the password of dan"
# Of each realm: what acts for users, where it may go at home, and what is behind the border.
FRONT, BACK = "host/front.test", "host/back.test"
DENIED = "constrained delegation failed"


def domain(name: str) -> str:
    return "here" if name == NAME else "there"


def resource(name: str, of: str = "open") -> str:
    return f"host/{of}.{domain(name)}"


@dataclass(frozen=True)
class Sides:
    """A service of `near` acts for users; `far` trusts and is trusted."""

    near: DelegatingRealm
    far: DelegatingRealm

    def front(self, folder: Path) -> Client:
        """The service with its TGT. What belongs to the other realm only the KDCs know."""
        far = f"    {self.far.name} = {{\n        kdc = 127.0.0.1:{self.far.ports.kdc}\n    }}\n"
        text = (self.near.directory / "clients.conf").read_text()
        config = folder / "krb5.conf"
        config.write_text(text.replace("[realms]\n", "[realms]\n" + far))
        client = Client({**self.near.env(), "KRB5_CONFIG": str(config)}, folder / "ccache")
        done = client.kinit_keytab(FRONT, self.near.keytab("all"), "-f")
        assert done.ok, done.errors
        return client

    def user(self, name: str, of: str) -> str:
        return f"{name}@{getattr(self, of).name}"


def populate(realm: DelegatingRealm, other: str) -> None:
    for user in ("dan", "protected"):
        realm.kadmin_local(f'addprinc -pw "{PASSWORD}" {user}')
    realm.kadmin_local("modprinc -allow_forwardable protected")
    closed = resource(realm.name, "closed")
    for service in (FRONT, BACK, resource(realm.name), closed):
        realm.kadmin_local(f"addprinc -randkey {service}")
        realm.kadmin_local(f"ktadd -k {realm.keytab('all')} {service}")
    realm.kadmin_local(f"modprinc +ok_to_auth_as_delegate {FRONT}")
    realm.kadmin_local(f"setstr {FRONT} delegate_to {BACK}@{realm.name}")
    realm.kadmin_local(f"setstr {resource(realm.name)} delegate_from {FRONT}@{other}")
    for trust in (f"krbtgt/{other}@{realm.name}", f"krbtgt/{realm.name}@{other}"):
        realm.kadmin_local(f'addprinc -pw "{SECRET}" {trust}')


class BorderRealm(DelegatingRealm):
    """Its KDC knows which hosts are the other realm's; clients leave that to it."""

    def write_kerberos_configuration(self) -> None:
        super().write_kerberos_configuration()
        path = self.directory / "krb5.conf"
        text = path.read_text()
        (self.directory / "clients.conf").write_text(text)
        path.write_text(text.replace(
            "[domain_realm]\n", f"[domain_realm]\n    .here = {NAME}\n    .there = {OTHER}\n"))


@pytest.fixture(scope="module")
def realms():
    folders = [Path(tempfile.mkdtemp(prefix="tkdc-")) for _ in range(2)]
    with BorderRealm(folders[0], NAME, free_base_port(), stock=STOCK) as ours, \
            BorderRealm(folders[1], OTHER, free_base_port(), stock=True) as theirs:
        populate(ours, OTHER)
        populate(theirs, NAME)
        yield ours, theirs
    for folder in folders:
        shutil.rmtree(folder, ignore_errors=True)


@pytest.fixture(params=["service with tkdc", "service without"])
def sides(request, realms) -> Sides:
    return Sides(*(realms if request.param == "service with tkdc" else reversed(realms)))


def flags(client: Client, user: str) -> str:
    return client.flags(rf"for client {re.escape(user)}\W.*")[0]


@pytest.mark.parametrize("option", ["-I", "-U"], ids=["by name", "by enterprise name"])
def test_ticket_for_a_user_of_the_other_realm(sides, tmp_path, option):
    """The user's KDC seals a TGT for the user under the trust's key; the service's opens it."""
    front = sides.front(tmp_path)
    dan = sides.user("dan", "far")
    front.kvno_opened(sides.near.keytab("all"), option, dan, FRONT)
    client = dan if option == "-I" else dan.replace("@", "\\@") + "@" + sides.far.name
    assert "F" in flags(front, client)


def test_user_who_may_not_be_delegated(sides, tmp_path):
    front = sides.front(tmp_path)
    protected = sides.user("protected", "far")
    assert front.run("kvno", "-I", protected, FRONT).ok
    assert "F" not in flags(front, protected)
    done = front.run("kvno", "-I", protected, "-P", BACK)
    assert not done.ok
    assert DENIED in done.errors


def test_user_whom_the_other_realm_does_not_know(sides, tmp_path):
    front = sides.front(tmp_path)
    done = front.run("kvno", "-I", sides.user("nobody", "far"), FRONT)
    assert not done.ok
    assert "not found in Kerberos database" in done.errors
    assert front.run("kvno", "-I", sides.user("dan", "far"), FRONT).ok


def test_delegation_at_home_for_a_user_of_the_other_realm(sides, tmp_path):
    front = sides.front(tmp_path)
    done = front.run("kvno", "-k", str(sides.near.keytab("all")), "-I", sides.user("dan", "far"),
                     "-P", BACK)
    assert done.ok, done.errors
    assert "keytab entry valid" in done.output


@pytest.mark.parametrize("home", ["near", "far"])
def test_delegation_to_the_other_realm(sides, tmp_path, home):
    """The resource allows it. What its KDC gets as evidence is a TGT between the realms."""
    before = len(sides.far.operations("kdc"))
    front = sides.front(tmp_path)
    kind, host = resource(sides.far.name).split("/")
    dan = sides.user("dan", home)
    done = front.run("kvno", "-I", dan, "-P", "-S", kind, host)
    assert done.ok, done.errors
    assert f"{kind}/{host}@\n\tfor client {dan}" in front.klist().output
    if not sides.far.stock:
        asked = [(o["op"], o["usage"]) for o in sides.far.operations("kdc")[before:]
                 if o["sha1_blocks"] > 0]
        assert asked.count(("open", 2)) >= 2 and asked.count(("verify", 17)) >= 2, asked


@pytest.mark.parametrize("user, target", [("dan", "closed"), ("protected", "open")],
                         ids=["a resource that does not list it", "a user who may not be"])
def test_refused_in_the_other_realm(sides, tmp_path, user, target):
    front = sides.front(tmp_path)
    kind, host = resource(sides.far.name, target).split("/")
    done = front.run("kvno", "-I", sides.user(user, "near"), "-P", "-S", kind, host)
    assert not done.ok
    assert DENIED in done.errors
    kind, host = resource(sides.far.name).split("/")
    assert front.run("kvno", "-I", sides.user("dan", "near"), "-P", "-S", kind, host).ok
