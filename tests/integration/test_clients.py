# SPDX-License-Identifier: Apache-2.0
"""Clients of other makes: Heimdal, Java, python-gssapi, and MIT's beside them. Each test runs with
tkdc and without it: a client is to see no difference."""

import pytest

from tests.support.ccache import ticket_octets
from tests.support.clients import (
    HEIMDAL,
    MAKES,
    Gssapi,
    Heimdal,
    Make,
    Mit,
    compile_java,
    need,
)
from tests.support.kerberos import Client
from tests.support.realm import Realm

PASSWORD = "the password of cleo"
SERVICE = "host/clients.test"
WRONG = {"mit": "Password incorrect", "heimdal": "Password incorrect",
         "gssapi": "Preauthentication failed", "java": "Pre-authentication information was invalid"}
UNKNOWN = {"mit": "not found in Kerberos database", "heimdal": "CLIENT_NOT_FOUND",
           "gssapi": "not found in Kerberos database", "java": "Client not found"}
EXPIRED = {"mit": "Password expired", "heimdal": "Password has expired",
           "gssapi": "Password has expired", "java": "Password has expired"}


@pytest.fixture(scope="module")
def site(either) -> Realm:
    either.kadmin_local(f'addprinc -pw "{PASSWORD}" cleo')
    either.kadmin_local(f'addprinc -pw "{PASSWORD}" late')
    either.kadmin_local(f"addprinc -randkey {SERVICE}")
    either.kadmin_local(f"ktadd -k {either.keytab('clients')} {SERVICE}")
    return either


@pytest.fixture(scope="module", params=MAKES)
def kind(request, tmp_path_factory) -> str:
    if request.param == "java":
        compile_java(tmp_path_factory.mktemp("classes"))
    return request.param


def new_make(site: Realm, folder, kind: str) -> Make:
    client = Client(site.env(), folder / "ccache")
    return MAKES[kind](client, site.keytab("clients"))


@pytest.fixture
def make(site, kind, tmp_path) -> Make:
    return new_make(site, tmp_path, kind)


def of(site: Realm, name: str) -> str:
    return f"{name}@{site.name}"


@pytest.mark.parametrize("transport", ["udp", "tcp"])
def test_login_and_service(site, make, transport):
    """Every make but Heimdal's opens the ticket with the service's keytab, too."""
    if transport == "tcp":
        make.by_tcp()
    done = make.use(of(site, "cleo"), PASSWORD, of(site, SERVICE))
    assert done.ok, done.errors


@pytest.mark.parametrize("transport", ["udp", "tcp"])
def test_renewal(site, make, transport):
    if not make.can_renew:
        pytest.skip("GSS-API has no renewal")
    if transport == "tcp":
        make.by_tcp()
    done = make.renew(of(site, "cleo"), PASSWORD)
    assert done.ok, done.errors


def test_wrong_password(site, make, kind):
    for change in (lambda: None, make.by_tcp):
        change()
        done = make.log_in(of(site, "cleo"), "not the password")
        assert not done.ok
        assert WRONG[kind] in done.errors
    assert make.log_in(of(site, "cleo"), PASSWORD).ok


def test_unknown_principal(site, make, kind):
    done = make.log_in(of(site, "nobody-of-this-name"), PASSWORD)
    assert not done.ok
    assert UNKNOWN[kind] in done.errors


@pytest.fixture
def expired(site):
    site.kadmin_local('modprinc -pwexpire "1 hour ago" late')
    yield "late"
    site.kadmin_local(f'cpw -pw "{PASSWORD}" late')


def test_expired_password(site, make, kind, expired):
    for change in (lambda: None, make.by_tcp):
        change()
        done = make.log_in(of(site, expired), PASSWORD)
        assert not done.ok
        assert EXPIRED[kind] in done.output + done.errors


def test_expired_password_is_changed(site, tmp_path, expired):
    """kinit asks for another one, changes it by kpasswd's protocol, and logs in."""
    client = Client(site.env(), tmp_path / "ccache")
    another = "another password"
    done = client.run("kinit", expired, stdin=f"{PASSWORD}\n{another}\n{another}\n")
    assert done.ok, done.errors
    assert "Password expired" in done.output
    assert client.kinit(expired, another).ok


def test_clock_that_is_ahead(site, make):
    """MIT and Heimdal learn the difference from the KDC's first answer; Java does not."""
    make.ahead = "+10m"
    for change in (lambda: None, make.by_tcp):
        change()
        done = make.log_in(of(site, "cleo"), PASSWORD)
        if make.can_skew:
            assert done.ok, done.errors
        else:
            assert "Clock skew too great" in done.errors


@pytest.mark.parametrize("skewed", [Mit, Heimdal])
def test_clock_that_is_ahead_and_not_corrected(site, tmp_path, skewed):
    """The authenticator says when it was made: the KDC compares that with its own clock."""
    make = skewed(Client(site.env(), tmp_path / "ccache"), site.keytab("clients"))
    assert make.log_in(of(site, "cleo"), PASSWORD).ok
    make.configure("kdc_timesync = false")
    make.ahead = "+10m"
    done = make.run("kvno", SERVICE) if skewed is Mit else make.run("kinit", "-R")
    assert not done.ok
    assert "Clock skew too great" in done.errors


def test_forwarded_ticket(site, tmp_path):
    """A service gets a ticket of the user's own, and gets others with it."""
    make = Gssapi(Client(site.env(), tmp_path / "ccache"), site.keytab("clients"))
    make.configure("forwardable = true")
    done = make.start(of(site, "cleo"), PASSWORD, "delegate", of(site, SERVICE))
    assert done.ok, done.errors
    assert done.output.count(f"served {of(site, 'cleo')}") == 2
    make = Gssapi(Client(site.env(), tmp_path / "ccache2"), site.keytab("clients"))
    done = make.start(of(site, "cleo"), PASSWORD, "delegate", of(site, SERVICE))
    assert not done.ok and "no ticket was forwarded" in done.errors


@pytest.mark.parametrize("first", [Mit, Heimdal])
def test_caches_are_common(site, tmp_path, first):
    """What one make wrote, the other renews and uses."""
    second = Heimdal if first is Mit else Mit
    one, two = (kind(Client(site.env(), tmp_path / "ccache"), site.keytab("clients"))
                for kind in (first, second))
    assert one.log_in(of(site, "cleo"), PASSWORD).ok
    before = ticket_octets(one.client.ccache)
    renewing = "kinit" if second is Mit else need(HEIMDAL / "kinit.heimdal")
    done = two.run(renewing, "-R")
    assert done.ok, done.errors
    assert ticket_octets(one.client.ccache) != before
    assert one.client.kvno(SERVICE).ok


def heimdal(site: Realm, folder, name: str = "ccache") -> Heimdal:
    return Heimdal(Client(site.env(), folder / name), site.keytab("clients"))


def test_password_change_with_heimdal(site, tmp_path):
    site.kadmin_local('addprinc -pw "the first one" turns')
    try:
        make = heimdal(site, tmp_path)
        done = make.run(need(HEIMDAL / "kpasswd.heimdal"), of(site, "turns"),
                        stdin="the first one\nthe second one\nthe second one\n")
        assert done.ok, done.output + done.errors
        assert make.log_in(of(site, "turns"), "the second one").ok
        assert not make.log_in(of(site, "turns"), "the first one").ok
    finally:
        site.kadmin_local("delprinc -force turns")


def test_ticket_for_another_user_with_heimdal(site, tmp_path):
    """S4U2Self in Heimdal's way."""
    make = heimdal(site, tmp_path)
    done = make.run(need(HEIMDAL / "kinit.heimdal"), "-k", "-t", str(make.keytab),
                    of(site, SERVICE))
    assert done.ok, done.errors
    out = tmp_path / "out"
    done = make.run(need(HEIMDAL / "kgetcred"), f"--impersonate={of(site, 'cleo')}",
                    f"--out-cache=FILE:{out}", of(site, SERVICE))
    assert done.ok, done.errors
    assert of(site, SERVICE) in make.run("klist", f"FILE:{out}").output
