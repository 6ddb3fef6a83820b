# SPDX-License-Identifier: Apache-2.0
"""Logins by certificate (PKINIT) with a freshness token that the KDC makes and verifies, anonymous
ones and armor from them; authentication indicators from the login to the service's ticket (CAMMAC,
whose checksums are made with krbtgt's and the service's key). With tkdc and without it."""

import re

import pytest

from tests.integration.conftest import NAME, SERVICE, STOCK, new_realm, remove
from tests.support.card_realm import CardRealm
from tests.support.certificates import Certificates
from tests.support.kerberos import Client, Outcome
from tests.support.realm import Realm

PASSWORD = "the password of carl"
SERVICES = {"card": "host/card.test", "armor": "host/armor.test"}


@pytest.fixture(scope="module", params=["tkdc", "stock"])
def site(request):
    with new_realm(stock=STOCK or request.param == "stock", kind=CardRealm) as running:
        running.kadmin_local(f'addprinc -pw "{PASSWORD}" carl')
        running.kadmin_local("addprinc -nokey nora")
        running.kadmin_local("addprinc -randkey WELLKNOWN/ANONYMOUS")
        for service in (SERVICE, *SERVICES.values()):
            running.kadmin_local(f"addprinc -randkey {service}")
            running.kadmin_local(f"ktadd -k {running.keytab('service')} {service}")
        for indicator, service in SERVICES.items():
            running.kadmin_local(f"setstr {service} require_auth {indicator}")
        running.identity = running.certificates.user("carl")
        yield running
    remove(running)


@pytest.fixture
def client(site, tmp_path):
    count = iter(range(10))
    return lambda: Client(site.env(), tmp_path / f"ccache{next(count)}")


def with_card(client: Client, name: str, identity: str, *options: str) -> Outcome:
    return client.run("kinit", "-X", f"X509_user_identity={identity}", *options, name)


def may_reach(client: Client) -> set[str]:
    """Which of the services that want an indicator give a ticket; the others name the policy."""
    reached = set()
    for indicator, service in SERVICES.items():
        done = client.kvno(service)
        if done.ok:
            reached.add(indicator)
        else:
            assert "KDC policy rejects request" in done.errors
    return reached


def operations(site: Realm, seen: int) -> set[tuple[str, int]]:
    return {(o["op"], o["usage"]) for o in site.operations("kdc")[seen:] if o["status"] == "ok"}


def test_login_by_certificate(site, client, tmp_path):
    """The token comes with the first error and returns in the signed request."""
    carl = client()
    carl.env["KRB5_TRACE"] = str(tmp_path / "trace")
    seen = len(site.operations("kdc"))
    done = with_card(carl, "carl", site.identity, "-r", "1d")
    assert done.ok, done.errors
    assert "PKINIT client received freshness token from KDC" in (tmp_path / "trace").read_text()
    assert may_reach(carl) == {"card"}
    if not site.stock:
        assert {("mac", 514), ("verify", 514), ("mac", 64), ("verify", 64)} <= operations(
            site, seen)
        keys = {o["key"] for o in site.operations("kdc")[seen:] if (o["op"], o["usage"]) == (
            "mac", 64)}
        assert len(keys) == 2, "krbtgt's checksum and the service's"
    done = carl.run("kinit", "-R")
    assert done.ok, done.errors
    assert may_reach(carl) == {"card"}


def test_a_user_without_any_key(site, client):
    """A card is all that nora has; the reply key comes from Diffie-Hellman."""
    nora = client()
    done = with_card(nora, "nora", site.certificates.user("nora"))
    assert done.ok, done.errors
    assert nora.kvno(SERVICE).ok
    assert not client().kinit("nora", "any password").ok


def test_another_users_certificate(site, client):
    done = with_card(client(), "nora", site.identity)
    assert not done.ok
    assert "Client name mismatch" in done.errors


def test_certificate_of_another_authority(site, client, tmp_path):
    other = Certificates(tmp_path / "other", NAME)
    done = with_card(client(), "carl", other.user("carl"))
    assert not done.ok
    done = with_card(client(), "carl", site.identity)
    assert done.ok, done.errors


def test_service_opens_the_ticket_with_indicators(site, client):
    """Its keytab opens what the servers sealed beside the checksum for it."""
    carl = client()
    assert with_card(carl, "carl", site.identity).ok
    carl.kvno_opened(site.keytab("service"), SERVICES["card"])


def test_password_gives_no_indicator(client):
    carl = client()
    assert carl.kinit("carl", PASSWORD).ok
    assert may_reach(carl) == set()
    assert carl.kvno(SERVICE).ok


def test_anonymous(client):
    """A ticket that names nobody; it gets services and armors others."""
    nobody = client()
    done = nobody.run("kinit", "-n", f"@{NAME}")
    assert done.ok, done.errors
    shown = nobody.klist("-f").output
    assert "WELLKNOWN/ANONYMOUS@WELLKNOWN:ANONYMOUS" in shown
    assert re.search(r"Flags: \S*a", shown), shown
    assert nobody.kvno(SERVICE).ok


def test_armor_from_an_anonymous_ticket(site, client):
    """kinit without a machine's keytab: the challenge is encrypted under armor and password."""
    nobody = client()
    assert nobody.run("kinit", "-n", f"@{NAME}").ok
    carl = client()
    seen = len(site.operations("kdc"))
    done = carl.kinit("carl", PASSWORD, "-T", f"FILE:{nobody.ccache}")
    assert done.ok, done.errors
    assert may_reach(carl) == {"armor"}
    if not site.stock:
        assert {("open-derived", 54), ("mac", 64)} <= operations(site, seen)
    wrong = client().kinit("carl", "not the password", "-T", f"FILE:{nobody.ccache}")
    assert not wrong.ok


def test_card_in_armor(site, client):
    nobody = client()
    assert nobody.run("kinit", "-n", f"@{NAME}").ok
    carl = client()
    done = with_card(carl, "carl", site.identity, "-T", f"FILE:{nobody.ccache}")
    assert done.ok, done.errors
    assert may_reach(carl) == {"card"}


def test_indicator_of_a_ticket_for_another_realm(site, client):
    """The trust's key makes the checksum that a service's key makes at home."""
    site.kadmin_local('addprinc -pw "between realms" krbtgt/AWAY.REALM')
    carl = client()
    assert with_card(carl, "carl", site.identity).ok
    done = carl.kvno("krbtgt/AWAY.REALM")
    assert done.ok, done.errors
