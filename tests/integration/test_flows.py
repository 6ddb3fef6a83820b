# SPDX-License-Identifier: Apache-2.0
"""What a ticket can be beyond a login: flags, postdated, renewed, user to user, under an old
krbtgt key, restricted by addresses. Each test runs with tkdc and without it."""

import re
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.support import ccache
from tests.support.kerberos import Client, over_tcp
from tests.support.realm import Realm

PASSWORD = "the password of flo"
SERVICES = ("host/flow.test", "host/other-flow.test")


@pytest.fixture(scope="module")
def site(either) -> Realm:
    for name in ("flo", "jo"):
        either.kadmin_local(f'addprinc -pw "{PASSWORD}" {name}')
    for service in SERVICES:
        either.kadmin_local(f"addprinc -randkey {service}")
        either.kadmin_local(f"ktadd -k {either.keytab('flow')} {service}")
    return either


@pytest.fixture
def flo(site, tmp_path_factory) -> Callable[..., Client]:
    """Logs in with kinit's options."""
    folder = tmp_path_factory.mktemp("flo")
    count = iter(range(100))

    def log_in(*options: str, name: str = "flo") -> Client:
        client = Client(site.env(), folder / f"ccache{next(count)}")
        done = client.kinit(name, PASSWORD, *options)
        assert done.ok, done.errors
        return client

    return log_in


def flags(client: Client, service: str) -> str:
    """Of the last ticket for this service."""
    return client.flags(rf"{service}@\S+\n(?:\t.*, |\t)")[-1]


def test_flags_that_were_asked(site, flo):
    client = flo("-f", "-p", "-r", "2d")
    assert flags(client, f"krbtgt/{site.name}") == "FPRIA"
    assert client.kvno(SERVICES[0]).ok
    assert flags(client, SERVICES[0]) == "FPRAT"


def test_flags_that_were_not_asked(site, flo):
    client = flo("-F", "-P", "-l", "1h")
    assert flags(client, f"krbtgt/{site.name}") == "IA"
    assert client.kvno(SERVICES[0]).ok
    assert flags(client, SERVICES[0]) == "AT"


def test_flags_that_a_principal_may_not_have(site, flo):
    """Its attributes take them off."""
    site.kadmin_local("modprinc -allow_forwardable -allow_proxiable -allow_renewable jo")
    try:
        client = flo("-f", "-p", "-r", "2d", "-l", "1h", name="jo")
        assert flags(client, f"krbtgt/{site.name}") == "IA"
    finally:
        site.kadmin_local("modprinc +allow_forwardable +allow_proxiable +allow_renewable jo")


def test_ticket_for_addresses(site, flo):
    """The KDC compares them with where the next request comes from, which is 127.0.0.1."""
    client = flo("-a")
    assert "Addresses: " in client.klist("-a").output
    done = client.kvno(SERVICES[0])
    assert not done.ok
    assert "Incorrect net address" in done.errors
    config = client.ccache.with_name("addresses.conf")
    text = Path(client.env["KRB5_CONFIG"]).read_text()
    config.write_text(text.replace("[libdefaults]\n",
                                   "[libdefaults]\n    extra_addresses = 127.0.0.1\n"))
    client.env["KRB5_CONFIG"] = str(config)
    assert client.kinit("flo", PASSWORD, "-a").ok
    done = client.kvno(SERVICES[0])
    assert done.ok, done.errors


@pytest.mark.parametrize("transport", ["udp", "tcp"])
def test_renewal(site, flo, transport):
    client = flo("-r", "2d", "-l", "1h")
    if transport == "tcp":
        over_tcp(client)
    before = ccache.ticket_octets(client.ccache)
    done = client.run("kinit", "-R")
    assert done.ok, done.errors
    assert ccache.ticket_octets(client.ccache) != before
    assert flags(client, f"krbtgt/{site.name}")== "RIAT"
    assert client.kvno(SERVICES[0]).ok


def test_renewal_of_a_ticket_that_is_not_renewable(flo):
    done = flo("-l", "1h").run("kinit", "-R")
    assert not done.ok
    assert "KDC can't fulfill requested option" in done.errors


def test_renewal_after_its_time(flo):
    client = flo("-l", "1s", "-r", "2s")
    time.sleep(3)
    done = client.run("kinit", "-R")
    assert not done.ok
    assert "Ticket expired" in done.errors


def test_service_ticket_with_an_expired_ticket(flo):
    """The stock library does not even ask: the answer must not be a service ticket."""
    client = flo("-l", "1s")
    time.sleep(2)
    done = client.kvno(SERVICES[0])
    assert not done.ok
    assert "Ticket expired" in done.errors


def test_renewed_service_ticket(flo):
    """A service's own ticket, asked for in the login, renewed by its name."""
    client = flo("-S", SERVICES[0], "-r", "2d")
    before = ccache.ticket_octets(client.ccache)
    done = client.run("kinit", "-R", "-S", SERVICES[0])
    assert done.ok, done.errors
    assert ccache.ticket_octets(client.ccache) != before
    assert "R" in flags(client, SERVICES[0])


def test_postdated(site, flo):
    """Invalid until its time, valid after it was shown again."""
    client = flo("-s", "3s", "-l", "1h")
    assert flags(client, f"krbtgt/{site.name}") == "DdiIA"
    done = client.kvno(SERVICES[0])
    assert not done.ok
    assert "Ticket not yet valid" in done.errors
    time.sleep(3.5)
    done = client.run("kinit", "-v")
    assert done.ok, done.errors
    assert "i" not in flags(client, f"krbtgt/{site.name}")
    assert client.kvno(SERVICES[0]).ok


def test_user_to_user(site, flo):
    """The ticket is for jo's session key: his keytab has no part in it."""
    client, jo = flo(), flo(name="jo")
    done = client.run("kvno", "--u2u", str(jo.ccache), "jo")
    assert done.ok, done.errors
    assert f"jo@{site.name}" in client.klist().output


def test_user_to_user_with_another_users_ticket(flo):
    done = flo().run("kvno", "--u2u", str(flo().ccache), "jo")
    assert not done.ok
    assert "Requested server and ticket don't match" in done.errors


def test_user_to_user_with_a_changed_ticket(flo):
    client, jo = flo(), flo(name="jo")
    ccache.change_tickets(jo.ccache, ccache.change_cipher(lambda c: ccache.flip(c, -1)))
    done = client.run("kvno", "--u2u", str(jo.ccache), "jo")
    assert not done.ok


@pytest.mark.behind
def test_users_are_no_services(realm):
    """A stock KDC gives anyone a ticket under a user's key, which lets him guess that user's
    password offline. The servers seal no tickets with users' keys, and the KDC says the way out."""
    realm.kadmin_local(f'addprinc -pw "{PASSWORD}" target')
    client = realm.client("guesser")
    assert client.kinit("target", PASSWORD).ok
    before = len(realm.operations("kdc"))
    for asked in (("kvno", "target"), ("kvno", "-U", "target", "target")):
        done = client.run(*asked)
        assert not done.ok
        assert "Server principal valid for user2user only" in done.errors
    assert not [o for o in realm.operations("kdc")[before:] if o["status"] == "denied"]
    done = client.kinit("target", PASSWORD, "-S", "target")
    assert not done.ok
    assert "Server principal valid for user2user only" in done.errors
    assert client.kinit("target", PASSWORD).ok
    assert client.run("kvno", "--u2u", str(client.ccache), "target").ok


def test_krbtgt_rollover(site, flo):
    """Tickets of the old version serve for service tickets and renewals until purgekeys."""
    tgs = f"krbtgt/{site.name}"
    old, renewing = flo("-r", "2d"), flo("-r", "2d")
    site.kadmin_local(f"cpw -randkey -keepold {tgs}")
    assert len(re.findall(r"^Key: vno", site.kadmin_local(f"getprinc {tgs}"), re.M)) >= 4
    done = old.kvno(SERVICES[0])
    assert done.ok, done.errors
    done = renewing.run("kinit", "-R")
    assert done.ok, done.errors  # this one is of the new version now
    site.kadmin_local(f"purgekeys {tgs}")
    assert len(re.findall(r"^Key: vno", site.kadmin_local(f"getprinc {tgs}"), re.M)) == 2
    for refused in (old.kvno(SERVICES[1]), old.run("kinit", "-R")):
        assert not refused.ok
        assert "KDC returned error string: PROCESS_TGS" in refused.errors
    done = renewing.kvno(SERVICES[1])
    assert done.ok, done.errors
    assert flo().kvno(SERVICES[1]).ok


def test_krbtgt_rollover_without_keepold(site, flo):
    """After a breach: every ticket of before is void at once."""
    old = flo()
    site.kadmin_local(f"cpw -randkey krbtgt/{site.name}")
    assert not old.kvno(SERVICES[0]).ok
    assert flo().kvno(SERVICES[0]).ok


def test_service_rollover(site, flo):
    """A ticket for a service stays good in its keytab, which holds both versions."""
    client = flo()
    assert client.kvno(SERVICES[0]).ok
    site.kadmin_local(f"ktadd -k {site.keytab('flow')} {SERVICES[0]}")
    for fresh in (client, flo()):
        fresh.kvno_opened(site.keytab("flow"), SERVICES[0])
