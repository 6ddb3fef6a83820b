# SPDX-License-Identifier: Apache-2.0
"""Constrained delegation (S4U2Proxy), both kinds, with a database module that stores who may
delegate to whom (tests/support/delegating_module): alone, and wrapped by tkdc's."""

import re
from pathlib import Path

import pytest

from tests.integration.conftest import NAME, STOCK, new_realm, remove
from tests.support.clients import Gssapi
from tests.support.delegation import DelegatingRealm
from tests.support.kerberos import Client
from tests.support.realm import Realm

PASSWORD = "the password of dan"
FRONT, BACK, RESOURCE = "host/front.test", "host/back.test", "host/resource.test"
DENIED = "constrained delegation failed"


@pytest.fixture(scope="module", params=["tkdc", "stock"])
def site(request):
    with new_realm(stock=STOCK or request.param == "stock", kind=DelegatingRealm) as running:
        for user in ("dan", "protected"):
            running.kadmin_local(f'addprinc -pw "{PASSWORD}" {user}')
        running.kadmin_local("modprinc -allow_forwardable protected")
        for service in (FRONT, BACK, RESOURCE):
            running.kadmin_local(f"addprinc -randkey {service}")
            running.kadmin_local(f"ktadd -k {running.keytab('all')} {service}")
        running.kadmin_local(f"modprinc +ok_to_auth_as_delegate {FRONT}")
        running.kadmin_local(f"setstr {FRONT} delegate_to {BACK}@{NAME}")
        running.kadmin_local(f"setstr {RESOURCE} delegate_from {FRONT}@{NAME}")
        yield running
    remove(running)


def service(site: Realm, folder: Path, name: str) -> Client:
    client = Client(site.env(), folder / name.replace("/", "."))
    done = client.kinit_keytab(name, site.keytab("all"), "-f")
    assert done.ok, done.errors
    return client


@pytest.fixture
def front(site, tmp_path) -> Client:
    return service(site, tmp_path, FRONT)


def tickets_for(client: Client, user: str) -> list[str]:
    shown = client.klist().output
    return re.findall(rf"(\S+)@{NAME}\n\tfor client {user}@{NAME}", shown)


@pytest.mark.parametrize("target", [BACK, RESOURCE], ids=["listed", "resource-based"])
def test_delegation(site, front, target):
    """The evidence is sealed with the front's key: the servers open it and check its PAC."""
    before = len(site.operations("kdc"))
    front.kvno_opened(site.keytab("all"), "-U", "dan", "-P", target)
    assert target in tickets_for(front, "dan")
    if not site.stock:
        asked = [(o["op"], o["usage"]) for o in site.operations("kdc")[before:]
                 if o["sha1_blocks"] > 0 or site.servers == 2]
        assert ("open", 2) in asked and ("verify", 17) in asked, asked


def test_target_that_is_not_listed(site, tmp_path):
    other = service(site, tmp_path, BACK)
    done = other.run("kvno", "-U", "dan", "-P", RESOURCE)
    assert not done.ok
    assert DENIED in done.errors


def test_user_who_may_not_be_delegated(front):
    for target in (BACK, RESOURCE):
        done = front.run("kvno", "-U", "protected", "-P", target)
        assert not done.ok
        assert DENIED in done.errors


def test_without_the_attribute_the_evidence_cannot_be_passed_on(site, tmp_path):
    """Here the list of targets counts: db2, which has none, leaves the flag (test_s4u.py)."""
    site.kadmin_local(f"modprinc -ok_to_auth_as_delegate {FRONT}")
    try:
        front = service(site, tmp_path, FRONT)
        assert front.run("kvno", "-U", "dan", FRONT).ok
        assert not re.search(r"for client dan@\S+ .*Flags: F", front.klist("-f").output)
        assert not front.run("kvno", "-U", "dan", "-P", BACK).ok
    finally:
        site.kadmin_local(f"modprinc +ok_to_auth_as_delegate {FRONT}")


@pytest.mark.parametrize("forwardable", [True, False])
@pytest.mark.parametrize("target", [BACK, RESOURCE], ids=["listed", "resource-based"])
def test_evidence_from_the_users_own_ticket(site, tmp_path, target, forwardable):
    """Without protocol transition: what dan sent to the front is the evidence, if forwardable."""
    make = Gssapi(Client(site.env(), tmp_path / "ccache"), site.keytab("all"))
    make.client.env["KRB5_CLIENT_KTNAME"] = str(site.keytab("all"))
    make.configure(f"forwardable = {str(forwardable).lower()}")
    done = make.start(f"dan@{NAME}", PASSWORD, "proxy", f"{FRONT}@{NAME}", f"{target}@{NAME}")
    assert done.ok == forwardable, done.errors
    if done.ok:
        assert done.output.count(f"served dan@{NAME}") == 2


def test_login_goes_on(site, tmp_path):
    dan = Client(site.env(), tmp_path / "dan")
    assert dan.kinit("dan", PASSWORD).ok
    assert dan.kvno(BACK).ok
