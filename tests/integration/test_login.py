# SPDX-License-Identifier: Apache-2.0
"""What a user sees: kinit, kvno, klist, kinit -R, GSS-API services."""

import re
import subprocess

import pytest

from tests.integration.conftest import NAME, SERVICE
from tests.support.kerberos import find_program
from tests.support.process import port_answers, wait_until


def test_password_login_gives_an_aes256_ticket(realm, client, shared_user):
    alice = client()
    done = alice.kinit(shared_user.name, shared_user.password)
    assert done.ok, done.errors
    shown = alice.klist("-e").output
    assert f"krbtgt/{NAME}@{NAME}" in shown
    assert "aes256-cts-hmac-sha1-96, aes256-cts-hmac-sha1-96" in shown


def test_preauthentication_is_required(realm, shared_user):
    trace = (realm.directory / "kdc.trace").read_text()
    assert f"NEEDED_PREAUTH: {shared_user.name}@{NAME}" in trace or "NEEDED_PREAUTH" in trace


def test_wrong_password_is_refused(client, shared_user):
    done = client().kinit(shared_user.name, "not the password")
    assert not done.ok
    assert "Password incorrect" in done.errors


def test_unknown_principal_is_refused(client):
    done = client().kinit("nobody-of-this-name", "anything")
    assert not done.ok
    assert "not found in Kerberos database" in done.errors


def test_keytab_login(realm, client, user):
    keytab = realm.keytab(user.name)
    realm.kadmin_local(f"ktadd -k {keytab} {user.name}")
    done = client().kinit_keytab(user.name, keytab)
    assert done.ok, done.errors
    old = client().kinit(user.name, user.password)
    assert not old.ok, "ktadd draws new keys: the password must be void"


@pytest.mark.parametrize("enctype", ["aes128-cts-hmac-sha1-96", "aes256-cts-hmac-sha1-96"])
def test_each_enctype_of_a_user_key(realm, client, enctype, request):
    name = f"one-{enctype[:6]}"
    realm.kadmin_local(f'addprinc -e {enctype}:normal -pw "a password" {name}')
    done = client().kinit(name, "a password")
    assert done.ok, done.errors
    keytab = realm.keytab(name)
    realm.kadmin_local(f"ktadd -k {keytab} -e {enctype}:normal {name}")
    assert client().kinit_keytab(name, keytab).ok


def test_enctype_without_a_key_is_refused(realm, client):
    realm.kadmin_local('addprinc -e aes256-cts:normal -pw "a password" only256')
    keytab = realm.keytab("other-enctype")
    made = client().run("ktutil", stdin=(
        "addent -password -p only256 -k 1 -e aes128-cts\na password\n"
        f"wkt {keytab}\nq\n"))
    assert keytab.exists(), made.errors
    done = client().kinit_keytab("only256", keytab)
    assert not done.ok


def test_service_ticket(client, shared_user):
    alice = client()
    assert alice.kinit(shared_user.name, shared_user.password).ok
    done = alice.kvno(SERVICE)
    assert done.ok, done.errors
    assert f"{SERVICE}@{NAME}" in alice.klist().output


def test_unknown_service_is_refused(client, shared_user):
    alice = client()
    assert alice.kinit(shared_user.name, shared_user.password).ok
    done = alice.kvno("host/no-such-host.test")
    assert not done.ok
    assert "not found in Kerberos database" in done.errors


def test_service_ticket_opens_with_the_keytab(realm, client, shared_user):
    """kvno -k decrypts the ticket with the service's own key, as a service does."""
    alice = client()
    assert alice.kinit(shared_user.name, shared_user.password).ok
    alice.kvno_opened(realm.keytab("service"), SERVICE)


def test_renewal(realm, client, shared_user):
    alice = client()
    assert alice.kinit(shared_user.name, shared_user.password, "-r", "1d", "-l", "1h").ok
    before = alice.ccache.read_bytes()
    done = alice.run("kinit", "-R")
    assert done.ok, done.errors
    assert alice.ccache.read_bytes() != before
    assert alice.kvno(SERVICE).ok


def test_forwardable_and_user_to_user(client, shared_user):
    alice = client()
    assert alice.kinit(shared_user.name, shared_user.password, "-f").ok
    done = alice.run("kvno", "--u2u", str(alice.ccache), shared_user.name)
    assert done.ok, done.errors


def test_login_over_tcp(realm, client, shared_user):
    config = realm.directory / "krb5-tcp.conf"
    text = (realm.directory / "krb5.conf").read_text()
    config.write_text(re.sub(r"udp_preference_limit = \d+", "udp_preference_limit = 1", text))
    alice = client()
    alice.env["KRB5_CONFIG"] = str(config)
    assert alice.kinit(shared_user.name, shared_user.password).ok
    assert alice.kvno(SERVICE).ok


def test_gss_service_accepts_the_ticket(realm, client, shared_user):
    alice = client()
    assert alice.kinit(shared_user.name, shared_user.password).ok
    env = {**realm.env(), "KRB5_KTNAME": str(realm.keytab("service"))}
    log = realm.logs / "gss-server.log"
    with open(log, "wb") as out:
        server = subprocess.Popen(
            [find_program("gss-server"), "-port", str(realm.ports.gss), SERVICE.replace("/", "@")],
            env=env, stdin=subprocess.DEVNULL, stdout=out, stderr=out)
    try:
        wait_until(lambda: port_answers(realm.ports.gss), 10, "gss-server")
        done = alice.run("gss-client", "-port", str(realm.ports.gss), "127.0.0.1",
                         SERVICE.replace("/", "@"), "a message")
        assert done.ok, done.output + done.errors
        assert "Signature verified" in done.output
        # The client is through before the server has written its last line.
        wait_until(lambda: f"{shared_user.name}@{NAME}" in log.read_text(), 10, "gss-server's log")
    finally:
        server.terminate()
        server.wait(10)
