# SPDX-License-Identifier: Apache-2.0
"""A realm on two servers: what the stock programs do there, and what they do without one."""

import re
import signal

import pytest

from tests.integration.conftest import NAME, SERVICE, STOCK, new_realm, remove
from tests.support.process import wait_until
from tests.support.realm import Realm
from tests.support.rebuild_key import rebuild, stored

pytestmark = [pytest.mark.skipif(STOCK, reason="about tkdc's servers")]
RECOVERY_S = 60.0
PASSWORD = "the password of a user of two servers"


class RealmOfTwo(Realm):
    def __init__(self, directory, name, base_port, **options):
        super().__init__(directory, name, base_port, servers=2, **options)


@pytest.fixture(scope="module")
def two():
    with new_realm(kind=RealmOfTwo) as running:
        running.kadmin_local(f'addprinc -pw "{PASSWORD}" shared')
        running.kadmin_local(f"addprinc -randkey {SERVICE}")
        running.kadmin_local(f"ktadd -k {running.keytab('service')} {SERVICE}")
        yield running
    remove(running)


@pytest.fixture
def healthy(two):
    """Logins work again."""
    def check() -> None:
        wait_until(lambda: two.client("healthy").kinit("shared", PASSWORD, timeout_s=30).ok,
                   RECOVERY_S, "a login", pause_s=0.5)

    return check


def test_status_says_what_runs(two):
    said = two.tool("tkdc", "status", "--config",
                    str(two.installation / "agent-admin" / "agent.toml"))
    assert "tkdc is healthy" in said, said
    assert "security: two servers, malicious" in said, said
    rows = re.findall(r"^ +(\d) +tcp://\S+ +yes +up ", said, re.M)
    assert rows == ["0", "1"], said


def test_a_user_logs_in_and_gets_a_ticket_that_the_service_opens(two):
    user = two.client("login")
    done = user.kinit("shared", PASSWORD)
    assert done.ok, done.errors
    user.kvno_opened(two.keytab("service"), SERVICE)
    assert f"krbtgt/{NAME}@{NAME}" in user.services()


def test_a_wrong_password_is_refused(two):
    done = two.client("wrong").kinit("shared", "another password")
    assert not done.ok
    assert "Password incorrect" in done.errors or "Preauthentication failed" in done.errors


def test_passwords_change(two):
    two.kadmin_local(f'addprinc -pw "{PASSWORD}" changes')
    two.kadmin_local('cpw -pw "another password" changes')
    assert not two.client("changes").kinit("changes", PASSWORD).ok
    done = two.client("changes").kinit("changes", "another password")
    assert done.ok, done.errors


def test_keytabs_hold_drawn_keys(two):
    two.kadmin_local("addprinc -randkey host/drawn.test")
    first, second = two.keytab("first"), two.keytab("second")
    two.kadmin_local(f"ktadd -k {first} host/drawn.test")
    assert two.client("drawn").kinit_keytab("host/drawn.test", first).ok
    two.kadmin_local(f"ktadd -k {second} host/drawn.test")
    assert not two.client("drawn").kinit_keytab("host/drawn.test", first).ok
    done = two.client("drawn").kinit_keytab("host/drawn.test", second)
    assert done.ok, done.errors


def test_a_deleted_principal_leaves_no_key(two):
    two.kadmin_local(f'addprinc -pw "{PASSWORD}" goes')
    whose = [set(stored(two, party).values()) for party in range(2)]
    assert all(f"goes@{NAME}" in names for names in whose)
    two.kadmin_local("delprinc -force goes")
    assert "not found" in two.client("goes").kinit("goes", PASSWORD).errors
    assert all(f"goes@{NAME}" not in stored(two, party).values() for party in range(2))


# What the search of the demo stands on; and what each holds alone is none of it.
def test_both_stores_together_are_the_key(two):
    with two.keytab("service").open("rb") as file:
        keytab = file.read()
    keys = [key.fields["key"] for key in rebuild(two, f"{SERVICE}@{NAME}")]
    assert keys
    assert all(key in keytab for key in keys)
    alone = [key.fields["key"] for key in rebuild(two, f"krbtgt/{NAME}@{NAME}")]
    assert all(key not in keytab for key in alone), "the control"


def test_fast_with_encrypted_challenge(two, tmp_path):
    """Armor from a host's ticket. The first of its kind is prepared while the client waits, so it
    may ask again."""
    keytab = two.keytab("armor")
    two.kadmin_local("addprinc -randkey host/armor.test")
    two.kadmin_local(f"ktadd -k {keytab} host/armor.test")
    host, user = two.client("armor"), two.client("armored")
    assert host.kinit_keytab("host/armor.test", keytab).ok
    trace = tmp_path / "trace"
    user.env["KRB5_TRACE"] = str(trace)

    def kinit(password):
        return user.kinit("shared", password, "-T", f"FILE:{host.ccache}", timeout_s=120)

    wait_until(lambda: kinit(PASSWORD).ok, RECOVERY_S, "a login in FAST", pause_s=0.1)
    said = trace.read_text()
    assert "Preauth module encrypted_challenge (138) (real) returned: 0/Success" in said
    assert "FAST reply key" in said
    user.kvno_opened(two.keytab("service"), SERVICE)
    refused = kinit("another password")
    assert not refused.ok
    assert "Password incorrect" in refused.errors or "Preauthentication failed" in refused.errors
    asked = {(one["op"], one["usage"]) for one in two.operations("kdc") if one["status"] == "ok"}
    assert {("open-derived", 54), ("seal-derived", 55), ("mac-derived", 56),
            ("seal-derived", 3)} <= asked


@pytest.mark.parametrize("party", [0, 1])
def test_a_server_is_killed_and_started_again(two, healthy, party):
    healthy()
    two.signal(f"server{party}", signal.SIGKILL)
    two.daemons[f"server{party}"].stop()
    away = two.client("away")
    away.attempts = 1
    refused = away.kinit("shared", PASSWORD, timeout_s=120)
    assert not refused.ok
    two.start_server(party)
    healthy()
    two.client("healthy").kvno_opened(two.keytab("service"), SERVICE)
    two.kadmin_local(f'addprinc -pw "{PASSWORD}" after{party}')
    assert two.client("after").kinit(f"after{party}", PASSWORD).ok
