# SPDX-License-Identifier: Apache-2.0
"""Services that act for users (S4U). Each test runs with tkdc and without it: db2 stores no list
of who may delegate to whom, so S4U2Proxy is refused by a stock KDC too, in the same words."""

from collections.abc import Callable

import pytest

from tests.support.kerberos import Client
from tests.support.realm import Realm

PASSWORD = "the password of sue"
TRUSTED, PLAIN, BACK = "host/trusted.test", "host/front.test", "host/back.test"


@pytest.fixture(scope="module")
def site(either) -> Realm:
    either.kadmin_local(f'addprinc -pw "{PASSWORD}" sue')
    either.kadmin_local(f'addprinc -pw "{PASSWORD}" protected')
    either.kadmin_local("modprinc -allow_forwardable protected")
    for service in (TRUSTED, PLAIN, BACK):
        either.kadmin_local(f"addprinc -randkey {service}")
        either.kadmin_local(f"ktadd -k {either.keytab('s4u')} {service}")
    either.kadmin_local(f"modprinc +ok_to_auth_as_delegate {TRUSTED}")
    return either


@pytest.fixture
def service(site, tmp_path) -> Callable[[str], Client]:
    def log_in(name: str) -> Client:
        client = Client(site.env(), tmp_path / name.replace("/", "."))
        done = client.kinit_keytab(name, site.keytab("s4u"), "-f")
        assert done.ok, done.errors
        return client

    return log_in


def flags(client: Client, user: str) -> str:
    return client.flags(rf"for client {user}@\S+\n?.*")[0]


def on_behalf(client: Client, user: str, name: str, keytab) -> None:
    client.kvno_opened(keytab, "-U", user, name)


def test_ticket_for_a_user_to_oneself(site, service):
    """krb5kdc leaves it forwardable where no list of targets is stored, which db2 never does."""
    client = service(PLAIN)
    on_behalf(client, "sue", PLAIN, site.keytab("s4u"))
    assert "F" in flags(client, "sue")


def test_ticket_for_a_user_to_a_trusted_service(site, service):
    client = service(TRUSTED)
    on_behalf(client, "sue", TRUSTED, site.keytab("s4u"))
    assert "F" in flags(client, "sue")


def test_ticket_for_a_user_who_may_not_be_delegated(site, service):
    client = service(TRUSTED)
    on_behalf(client, "protected", TRUSTED, site.keytab("s4u"))
    assert "F" not in flags(client, "protected")


def test_unknown_user(service):
    done = service(PLAIN).run("kvno", "-U", "nobody-of-this-name", PLAIN)
    assert not done.ok
    assert "not found in Kerberos database" in done.errors


def test_ticket_to_another_service_than_oneself(service):
    done = service(PLAIN).run("kvno", "-U", "sue", BACK)
    assert not done.ok
    assert "Invalid argument" in done.errors or "match" in done.errors


@pytest.mark.parametrize("name", [PLAIN, TRUSTED])
def test_delegation_is_refused_as_stock_refuses_it(service, name):
    done = service(name).run("kvno", "-U", "sue", "-P", BACK)
    assert not done.ok
    assert "constrained delegation failed" in done.errors
    assert "KDC can't fulfill requested option" in done.errors


def test_delegation_for_a_user_who_may_not_be_delegated(site, service):
    """The client says that the target may allow it (RBCD), which a database module would answer."""
    client = service(TRUSTED)
    done = client.run("kvno", "-U", "protected", "-P", BACK)
    assert not done.ok
    assert "constrained delegation failed" in done.errors


def test_service_goes_on_after_refusals(service):
    client = service(PLAIN)
    assert not client.run("kvno", "-U", "sue", "-P", BACK).ok
    done = client.kvno(BACK)
    assert done.ok, done.errors
